"""Requests to AWS: the region, the user's keys, and Signature Version 4.

The rules are AWS's, "Create a signed AWS API request"; the tests hold the result to botocore's.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from configparser import ConfigParser, Error
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError, MissingKeyError
from axe_lsp.runtime.files.folders import Environment, expand_path
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.files.user_config import UserConfig

SERVICE = "bedrock"

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNCHANGED = "-_.~"
_DEFAULT_PORTS = {"http": 80, "https": 443}

_IN_HOST = re.compile(r"\bbedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com")


class AwsKeys(Struct, frozen=True):
    """The credentials of a request. A `session_token` belongs to keys that hold for some hours only."""

    access_key: str
    secret_key: str
    session_token: str = ""


def region_of(config: UserConfig, provider: str, base_url: str) -> str:
    """Return the region: from the environment, config.toml or the address. Raises ConfigError if in none.

    The region of a provider that the user has named is its own, whatever the environment says: there is
    one for each region.
    """
    names = (config.environment.get(name, "") for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    usual = next((name.strip() for name in names if name.strip()), "")
    own = config.setting(provider, "region")
    in_host = _IN_HOST.search(base_url)
    named = usual or own if provider in PROVIDERS else own or usual
    region = named or (in_host[1] if in_host else "")
    if not region:
        raise ConfigError(
            f"the AWS region for provider {quoted(provider)} is not configured (set AWS_REGION, "
            f"or region in [providers.{provider}] of config.toml)"
        )
    if not re.fullmatch(r"[a-z0-9-]+", region):
        raise ConfigError(
            f"{quoted(region)} is not an AWS region such as us-east-1 (check AWS_REGION, "
            f"AWS_DEFAULT_REGION and config.toml)"
        )
    return region


def find_keys(environment: Environment, provider: str) -> AwsKeys:
    """Return the keys in the environment, or else those of the user's profile. Raises MissingKeyError."""
    keys = _keys_in(
        {
            "aws_access_key_id": environment.get("AWS_ACCESS_KEY_ID", ""),
            "aws_secret_access_key": environment.get("AWS_SECRET_ACCESS_KEY", ""),
            "aws_session_token": environment.get("AWS_SESSION_TOKEN", ""),
        }
    ) or _keys_in(_profile(environment))
    if keys is None:
        raise MissingKeyError(
            f"no credentials for provider {quoted(provider)} (set AWS_BEARER_TOKEN_BEDROCK to an API "
            "key of Bedrock, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or have a profile in "
            "~/.aws/credentials)"
        )
    return keys


def signed_headers(
    keys: AwsKeys,
    region: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: datetime | None = None,
) -> dict[str, str]:
    """Return the headers that sign a POST of `body` with these headers, `now` in UTC.

    The content type is signed as well. Other headers are not: proxies change them.
    """
    parts = urlsplit(url)
    moment = (now or datetime.now(timezone.utc)).strftime("%Y%m%dT%H%M%SZ")
    own = {"x-amz-date": moment}
    if keys.session_token:
        own["x-amz-security-token"] = keys.session_token
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    is_usual = parts.port in (None, _DEFAULT_PORTS.get(parts.scheme))
    signed = {
        "content-type": headers["content-type"],
        "host": host if is_usual else f"{host}:{parts.port}",
        **own,
    }
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        (
            "POST",
            # The path is encoded already, and once more here.
            quote(parts.path or "/", safe="/" + _UNCHANGED),
            _canonical_query(parts.query),
            *(f"{name}:{' '.join(signed[name].split())}" for name in sorted(signed)),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        )
    )
    scope = f"{moment[:8]}/{region}/{SERVICE}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{keys.secret_key}".encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    signature = _hmac(key, "\n".join((_ALGORITHM, moment, scope, digest))).hex()
    credential = f"{keys.access_key}/{scope}"
    proof = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
    return {**own, "authorization": proof}


def _canonical_query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    encoded = [(quote(name, _UNCHANGED), quote(value, _UNCHANGED)) for name, value in pairs]
    return "&".join(f"{name}={value}" for name, value in sorted(encoded))


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _keys_in(values: Mapping[str, str]) -> AwsKeys | None:
    access = values.get("aws_access_key_id", "").strip()
    secret = values.get("aws_secret_access_key", "").strip()
    token = values.get("aws_session_token", "").strip()
    return AwsKeys(access, secret, token) if access and secret else None


def _profile(environment: Environment) -> Mapping[str, str]:
    """Return the user's profile in AWS's file of credentials, empty if there is none. Raises ConfigError."""
    named = environment.get("AWS_SHARED_CREDENTIALS_FILE")
    path = Path(expand_path(named or "~/.aws/credentials", environment))
    profile = environment.get("AWS_PROFILE") or "default"
    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(read_file(path).decode())
    except OSError:
        return {}
    except (Error, UnicodeDecodeError):
        # What is wrong is not repeated: it would quote the line.
        raise ConfigError(f"the AWS credentials in {path} can't be read") from None
    return parser[profile] if parser.has_section(profile) else {}
