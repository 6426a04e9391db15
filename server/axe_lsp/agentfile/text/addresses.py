"""Addresses, as far as they can be judged without calling them: of servers, of machines that ssh reaches, and of Dask.

ssh takes `build1`, `me@build1` and `ssh://me@build1:2222`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted


def address_fault(address: str) -> str | None:
    """Return the reason why a text is not the address of a server, in axe's words."""
    scheme, separator, rest = address.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        return f"must use http or https scheme, got {quoted(scheme if separator else '')}"
    if not rest.split("/", 1)[0].strip():
        return "must include a host"
    return None


def without_passwords(text: str) -> str:
    """Return a text in which no address says who is calling, or has a query, in which some keep a key."""
    shown = re.sub(_CALLER, "", text) if "@" in text else text
    return re.sub(_QUERY, r"\1?…", shown) if "?" in shown else shown


_CALLER = r"(?<=://)[^/@\s]*@"
_QUERY = r"""(://[^\s?'"]*)\?[^\s'"]+"""


_PORT = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"

ADDRESS = (
    r"(?:ssh://)?(?:([A-Za-z0-9_][A-Za-z0-9_.+-]*)@)?"
    rf"([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(?::({_PORT}))?/?"
)
"""A regular expression. Nothing begins with `-`, which would be an option of ssh, and nothing is read by a shell."""


DASK_ADDRESS = rf"(tls|tcp)://([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]):({_PORT})"
"""A regular expression: a scheduler or a worker, with TLS or without."""


class SshHost(Struct, frozen=True):
    """A machine. Without a `port`, which is 0 then, ssh decides; without a `user` as well."""

    host: str
    user: str = ""
    port: int = 0

    @property
    def destination(self) -> str:
        """The machine as an argument of ssh."""
        host = self.host.strip("[]")
        return f"{self.user}@{host}" if self.user else host

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        return f"ssh://{user}{self.host}{f':{self.port}' if self.port else ''}"


def ssh_host(text: str) -> SshHost:
    """Return the machine of an address. Raises ValueError, whose text completes a sentence that names the place."""
    found = re.fullmatch(ADDRESS, text)
    if found is None:
        raise ValueError(
            f"must be the address of a machine, such as build1 or ssh://me@build1:2222, got {quoted(text)}"
        )
    user, host, port = found.groups()
    return SshHost(host, user or "", int(port or 0))


class DaskHost(Struct, frozen=True):
    """A scheduler or a worker of Dask."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def dask_host(text: str) -> DaskHost:
    """Return the machine of an address. Raises ValueError, as above."""
    found = re.fullmatch(DASK_ADDRESS, text)
    if found is None:
        raise ValueError(
            f"must be the address of a scheduler, such as tls://build1:8786, got {quoted(text)}"
        )
    return DaskHost(found[1], found[2], int(found[3]))
