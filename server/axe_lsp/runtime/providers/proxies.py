"""The proxy for an address, as the environment or the system says, in the way of httpx.

Imported where there is a proxy.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.providers.wire import is_http_address

_DEFAULT_PORTS = {"http": 80, "https": 443}

_ASKS_SYSTEM = sys.platform in ("darwin", "win32")


def proxy_for(url: SplitResult, proxies: Mapping[str, str]) -> str:
    """Return the proxy for an address, or "". This machine itself is never asked through one, as for axe."""
    scheme = next((each for each in (url.scheme, "all") if proxies.get(each)), "")
    if not scheme or _is_this_machine(url.hostname or "") or _is_bypassed(url, proxies):
        return ""
    named = proxies[scheme]
    proxy = named if "://" in named else f"http://{named}"
    if not is_http_address(proxy):  # Which is not shown, as it may hold a password.
        raise ConfigError(
            f"the proxy for {url.scheme} addresses is not an http or https address itself "
            f"(check {scheme.upper()}_PROXY)"
        )
    return proxy


def _is_this_machine(host: str) -> bool:
    return host == "localhost" or any(_is_in(host, each) for each in ("127.0.0.0/8", "::1"))


def _is_bypassed(url: SplitResult, proxies: Mapping[str, str]) -> bool:
    """Return whether the environment or the system wants no proxy for an address."""
    if any(_is_named(each.strip().lower(), url) for each in proxies.get("no", "").split(",")):
        return True
    from urllib.request import proxy_bypass

    return _ASKS_SYSTEM and bool(proxy_bypass(url.hostname or ""))


def _is_named(name: str, url: SplitResult) -> bool:
    """Return whether an entry of NO_PROXY means an address: as for httpx, and with default ports as for curl.

    It is a domain with all below it, or only those with a dot before it; an address, or a network such as
    10.0.0.0/8; each with a scheme or a port, if it means these alone; or `*` for all.
    """
    if name in ("", "*"):
        return name == "*"
    scheme, _, place = name.rpartition("://")
    if scheme not in ("", "all", url.scheme):
        return False
    host = url.hostname or ""
    if _is_in(host, place):
        return True
    try:
        named, own = urlsplit(f"//{place}"), url.port or _DEFAULT_PORTS[url.scheme]
        port, domain = named.port or own, (named.hostname or "").removeprefix("*")
    except ValueError:
        return False  # As for curl: what can't be read means nothing.
    below = domain if domain.startswith(".") else f".{domain}"
    return bool(domain) and port == own and (host == domain or host.endswith(below))


def _is_in(host: str, network: str) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
