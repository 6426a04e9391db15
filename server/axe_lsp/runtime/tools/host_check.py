"""The hosts from which pages may be fetched: those that the agent's file allows, and none in private.

A model may have been talked into looking around in the user's own network. So names are resolved here,
every address is judged, and connections are made to what was judged and to nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.tools.network import Network
from axe_lsp.runtime.tools.tool import ToolError


async def checked_addresses(host: str, allowed: Sequence[str], network: Network) -> list[str]:
    """The addresses of a host, if all of them may be connected to. Raises ToolError."""
    if allowed and host.lower() not in {each.lower() for each in allowed}:
        raise ToolError(f"host {quoted(host)} is not in allowed_hosts")
    if _is_address(host):
        if not network.may_connect(host):
            raise ToolError(f"address {host} is a private/reserved IP")
        return [host]
    try:
        addresses = list(await network.resolve(host))
    except (OSError, UnicodeError) as error:  # UnicodeError: what no name may look like.
        raise ToolError(f"host {quoted(host)} could not be resolved: {error}") from error
    for address in addresses:
        if not network.may_connect(address):
            raise ToolError(f"host {quoted(host)} resolves to private address {address}")
    if not addresses:
        raise ToolError(f"host {quoted(host)} resolved to no addresses")
    return addresses


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
