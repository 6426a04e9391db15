"""Secrets out of texts that are kept or shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import count

from axe_lsp.runtime.messages import Json

REDACTED = "[redacted]"

_SHORTEST = 8
"""Shorter values of `*_API_KEY` are placeholders; replacing them would tear words apart."""

_KEY_LIKE = r"""(?x)
    (?<![A-Za-z0-9])
    (?: (?:sk|pk|rk|tvly|gsk|xai|hf|r8)[-_][A-Za-z0-9_-]{16,}   # OpenAI, Anthropic and many others
      | AIza[0-9A-Za-z_-]{30,}                                  # Google
      | gh[pousr]_[A-Za-z0-9]{20,}                              # GitHub
      | github_pat_[A-Za-z0-9_]{20,}
      | xox[abprs]-[A-Za-z0-9-]{10,}                            # Slack
      | (?:AKIA|ASIA)[0-9A-Z]{16}\b                             # AWS
      | Bearer\s+[A-Za-z0-9._~+/-]{16,}=*
    )
    | (?<=://)[^\s:/@"']*:[^\s/@"']+(?=@)                       # who calls, in an address
    """
"""Compiled for the first text that may hold one."""

_MARKS = (
    *(f"{name}{dash}" for name in ("sk", "pk", "rk", "tvly", "xai", "hf", "r8") for dash in "-_"),
    *("AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "AKIA", "ASIA"),
    "Bearer",
)
"""One of them is in each text that looks like a key. To look for these takes a tenth of the time."""


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets and without anything that looks like a key."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, REDACTED)
    return re.sub(_KEY_LIKE, REDACTED, text) if _may_hold_key(text) else text


def _may_hold_key(text: str) -> bool:
    for mark in _MARKS:  # A generator would take twice as long.
        if mark in text:
            return True
    return "://" in text and "@" in text


class StreamRedactor:
    """Takes secrets out of a text that arrives in pieces, also where one lies across their borders.

    The end of a piece that may be the beginning of a secret is kept back until more is known.
    """

    def __init__(self, *secrets: str) -> None:
        long = (each for each in secrets if len(each) >= _SHORTEST)
        self._secrets = sorted(long, key=len, reverse=True)
        self._kept = ""

    def feed(self, piece: str) -> str:
        """The text that can be shown now."""
        text = self._kept + piece
        for secret in self._secrets:
            text = without(text, secret)
        shown = len(text) - max((_begun(secret, text) for secret in self._secrets), default=0)
        self._kept = text[shown:]
        return text[:shown]

    def rest(self) -> str:
        """The text that was held back, at the end."""
        kept, self._kept = self._kept, ""
        return kept


def _begun(secret: str, text: str) -> int:
    """How many characters at the end of `text` are the beginning of the secret."""
    start = text.find(secret[0], max(0, len(text) - len(secret) + 1))
    while start >= 0 and not secret.startswith(text[start:]):
        start = text.find(secret[0], start + 1)
    return len(text) - start if start >= 0 else 0


def without(text: str, secret: str) -> str:
    """`text` without this secret, and otherwise as it is, whatever else looks like a key."""
    return text.replace(secret, REDACTED) if len(secret) >= _SHORTEST else text


def redacted_table(
    table: Mapping[str, Json], secrets: Collection[str], *, keep: str = ""
) -> dict[str, Json]:
    """Return a JSON object with every text in it redacted, names of members included.

    Names that the regular expression `keep` matches stay. A member keeps its place if its name becomes another's.
    """
    shown: dict[str, Json] = {}
    for key, value in table.items():
        name = key if keep and re.fullmatch(keep, key) else redact(key, secrets)
        free = (f"{name}-{number}" for number in count(2))
        name = name if name not in shown else next(each for each in free if each not in shown)
        shown[name] = redacted_json(value, secrets, keep=keep)
    return shown


def holds_secret(text: str, secrets: Iterable[str]) -> bool:
    """Whether a text in JSON may hold one of the secrets, or something that looks like a key."""
    if _may_hold_key(text):
        return True
    return any(_in_json(each) in text for each in secrets if len(each) >= _SHORTEST)


@lru_cache(maxsize=256)
def _in_json(secret: str) -> str:
    """A secret in the spelling in which JSON has it, as far as that is the same in all of them."""
    plain = re.split(r"[^ !#-\[\]-~]", secret)
    return max(plain, key=len)


def redacted_json(value: Json, secrets: Collection[str], *, keep: str = "") -> Json:
    """Return a JSON value with every text in it redacted, names of members as in `redacted_table`."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, (list, tuple)):
        return [redacted_json(item, secrets, keep=keep) for item in value]
    return redacted_table(value, secrets, keep=keep) if isinstance(value, dict) else value
