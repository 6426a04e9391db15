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

_NAMES = ("sk", "pk", "rk", "tvly", "gsk", "xai", "hf", "r8")

_KINDS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    # OpenAI, Anthropic and many others
    (
        tuple(f"{name}{dash}" for name in _NAMES for dash in "-_"),
        "[A-Za-z0-9_-]",
        "{16,}",
    ),
    (("AIza",), "[0-9A-Za-z_-]", "{30,}"),  # Google
    (tuple(f"gh{kind}_" for kind in "pousr"), "[A-Za-z0-9]", "{20,}"),  # GitHub
    (("github_pat_",), "[A-Za-z0-9_]", "{20,}"),
    (tuple(f"xox{kind}-" for kind in "abprs"), "[A-Za-z0-9-]", "{10,}"),  # Slack
    (("AKIA", "ASIA"), "[0-9A-Z]", r"{16}\b"),  # AWS
)
"""The beginnings of keys, the characters that follow, and how many of them."""


def _alternatives(words: Iterable[str]) -> str:
    return "(?:" + "|".join(words) + ")"


_KEY_LIKE = (
    r"(?<![A-Za-z0-9])(?:"
    + "|".join(f"{_alternatives(starts)}{body}{number}" for starts, body, number in _KINDS)
    + r"|Bearer\s{1,16}[A-Za-z0-9._~+/-]{16,}={0,2})"
    # who calls, in an address
    + r"|(?<=://)[^\s:/@\"']{0,200}:[^\s/@\"']{1,200}(?=@)"
)
"""Compiled for the first text that may hold one."""

_BEGUN_KEY = (
    r"(?:(?<![A-Za-z0-9])(?:"
    + "|".join(f"{_alternatives(starts)}{body}*" for starts, body, _ in _KINDS)
    + r"|Bearer\s{1,16}[A-Za-z0-9._~+/-]*={0,2}|"
    + "|".join(
        start[:end]
        for start in sorted({*(each for starts, _, _ in _KINDS for each in starts), "Bearer"})
        for end in range(1, len(start) + (start == "Bearer"))
    )
    + r")|(?<=://)[^\s:/@\"']{0,200}(?::[^\s/@\"']{0,200})?)\Z"
)
"""A beginning of what looks like a key, at the end of a text."""

_LONGEST_BEGUN = 450
"""Characters of a text that may begin a key and is none yet: those of an address are the most."""

_CONTEXT = 3
"""Characters before a key by which it is recognised: `://`."""

_MARKS = (
    *(f"{name}{dash}" for name in _NAMES if name != "gsk" for dash in "-_"),
    *("AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "AKIA", "ASIA"),
    "Bearer",
)
"""One of them is in each text that looks like a key. To look for these takes a tenth of the time."""


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Redact the given secrets and everything that looks like a key."""
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
    """Removes secrets from a text that arrives in pieces, also where one lies across their borders.

    The end of a piece that may be the beginning of a secret is kept back until more is known. With `key_like`,
    texts that look like keys are removed, too: the result is that of `redact` for the whole text.
    """

    def __init__(self, *secrets: str, key_like: bool = False) -> None:
        long = (each for each in secrets if len(each) >= _SHORTEST)
        self._secrets = sorted(long, key=len, reverse=True)
        self._kept = ""
        self._keys = _KeyStream() if key_like else None

    def feed(self, piece: str) -> str:
        """Return the text that can be shown now."""
        text = self._kept + piece
        end = self._undecided(text)
        self._kept = text[end:]
        shown = self._without_secrets(text[:end])
        return shown if self._keys is None else self._keys.feed(shown)

    def rest(self) -> str:
        """Return the text that was kept back, at the end."""
        kept, self._kept = self._without_secrets(self._kept), ""
        return kept if self._keys is None else self._keys.feed(kept) + self._keys.rest()

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = without(text, secret)
        return text

    def _undecided(self, text: str) -> int:
        """Return where the text begins that may be part of a secret which is not complete yet."""
        end = len(text) - max((_begun(secret, text) for secret in self._secrets), default=0)
        # A complete secret across this place, which a longer one may contain, is kept back as a whole.
        places = [_place_across(secret, text, end) for secret in self._secrets]
        while (start := min(places, default=end)) < end:
            end = start
            places = [_place_across(secret, text, end) for secret in self._secrets]
        return end


def _place_across(secret: str, text: str, place: int) -> int:
    """Return where the secret begins that `text` has across `place`, else `place`."""
    start = text.find(secret, max(0, place - len(secret) + 1), place + len(secret) - 1)
    return start if start >= 0 else place


class _KeyStream:
    """Removes what looks like a key from a text that arrives in pieces."""

    def __init__(self) -> None:
        self._text = ""
        self._start = 0
        """Where the undecided text begins, behind the context."""

    def feed(self, piece: str) -> str:
        self._text += piece
        shown, end = self._decided()
        self._start = min(end, _CONTEXT)
        self._text = self._text[end - self._start :]
        kept = self._text[self._start :]
        if len(kept) > 2 * _LONGEST_BEGUN:  # A key, however long it becomes.
            self._text = self._text[: self._start + _LONGEST_BEGUN] + kept[-_LONGEST_BEGUN:]
        return shown

    def rest(self) -> str:
        context, kept = self._text[: self._start], self._text
        self._text, self._start = "", 0
        pieces, at = list[str](), len(context)
        for match in re.compile(_KEY_LIKE).finditer(kept, at):
            pieces += [kept[at : match.start()], REDACTED]
            at = match.end()
        return "".join([*pieces, kept[at:]])

    def _decided(self) -> tuple[str, int]:
        """Return the text that can be shown, and where the undecided one begins."""
        text, at = self._text, self._start
        pieces, end = list[str](), len(text)
        for match in re.compile(_KEY_LIKE).finditer(text, at):
            if match.end() == len(text) or self._begun_key(at) < match.start():
                end = match.start()
                break
            pieces += [text[at : match.start()], REDACTED]
            at = match.end()
        end = min(end, self._begun_key(at))
        return "".join([*pieces, text[at:end]]), end

    def _begun_key(self, at: int) -> int:
        """Return where a key may have begun that is not complete, from `at` on; else the end."""
        text = self._text
        begun = re.compile(_BEGUN_KEY).search(text, max(at, len(text) - _LONGEST_BEGUN))
        return begun.start() if begun is not None else len(text)


def _begun(secret: str, text: str) -> int:
    """Return how many characters at the end of `text` are the beginning of the secret."""
    start = text.find(secret[0], max(0, len(text) - len(secret) + 1))
    while start >= 0 and not secret.startswith(text[start:]):
        start = text.find(secret[0], start + 1)
    return len(text) - start if start >= 0 else 0


def without(text: str, secret: str) -> str:
    """Redact this secret only, whatever else looks like a key."""
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
    """Return whether a text in JSON may hold one of the secrets, or something that looks like a key."""
    if _may_hold_key(text):
        return True
    return any(_in_json(each) in text for each in secrets if len(each) >= _SHORTEST)


@lru_cache(maxsize=256)
def _in_json(secret: str) -> str:
    """Return a secret in the spelling in which JSON has it, as far as that is the same in all of them."""
    plain = re.split(r"[^ !#-\[\]-~]", secret)
    return max(plain, key=len)


def redacted_json(value: Json, secrets: Collection[str], *, keep: str = "") -> Json:
    """Return a JSON value with every text in it redacted, names of members as in `redacted_table`."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, (list, tuple)):
        return [redacted_json(item, secrets, keep=keep) for item in value]
    return redacted_table(value, secrets, keep=keep) if isinstance(value, dict) else value
