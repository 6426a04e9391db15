"""`url_fetch`: what pages become, and where it does not go."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path

import pytest

from axe_lsp.runtime.events import ToolEnd
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.tools import web
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS
from axe_lsp.runtime.tools.web import (
    NOT_PUBLIC_IPV4,
    NOT_PUBLIC_IPV6,
    Network,
    checked_addresses,
    fetch,
    is_public,
)
from support.engines import agent, bench
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent
from support.web_site import Answer, WebSite

HTML = {"content-type": "text/html; charset=latin-1"}


def to(path: str, status: int = 302) -> Answer:
    """Return a redirect."""
    return Answer(status=status, headers={"location": path})


async def nowhere(host: str) -> Sequence[str]:
    """Return a resolver that finds all hosts on loopback, except two."""
    return {"nothing.test": [], "inside.test": ["93.184.215.14", "10.0.0.1"]}.get(
        host, ["127.0.0.1"]
    )


LOOPBACK = Network(nowhere, lambda address: address == "127.0.0.1" or is_public(address))
"""A network in which this machine is what others call the internet."""


async def fetched(url: str, allowed: tuple[str, ...] = (), network: Network = LOOPBACK) -> str:
    """Return what a model gets."""
    call = ToolCall("1", "url_fetch", {"url": url})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web, "Network", lambda: network)
        return await BUILTIN_TOOLS["url_fetch"].execute(call, Workplace(Path("/"), {}, allowed))


async def refused(url: str, allowed: tuple[str, ...] = (), network: Network = LOOPBACK) -> str:
    """Return what a model is told when there is no page."""
    with pytest.raises(ToolError) as error:
        await fetched(url, allowed, network)
    return str(error.value)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer("grün".encode()), "grün"),
        (Answer(b"", 204), ""),
        (Answer(b"gr\xfcn", headers={"content-type": "text/plain; charset=latin-1"}), "grün"),
        (Answer(b"gr\xfcn", headers={"content-type": "text/plain; charset=klingon"}), "gr\ufffdn"),
        (
            Answer(
                b"<html><head><style>p{}</style><script>if (a<b) alert()</script></head>"
                b"<p>One &amp;\n  <b>gr\xfcn</b></p><p>two<br>three</script><p>four",
                headers=HTML,
            ),
            "One & grün twothree four",
        ),
        (Answer(b"x" * 10_000), "x" * 10_000),
        (
            Answer(b"x" * 600_000),
            "x" * 10_000 + "\n... [response truncated, exceeded 10000 characters]",
        ),
        (Answer(b"<i></i>" * 5_000 + b"end", headers=HTML), "end"),
    ],
)
async def test_a_page_as_text(answer: Answer, text: str) -> None:
    with WebSite({"/page": answer}) as site:
        assert await fetched(f"http://site.test:{site.port}/page") == text
    assert site.asked[0].headers["host"] == f"site.test:{site.port}"
    assert site.asked[0].headers["user-agent"].startswith("axe-lsp/")
    assert "cookie" not in site.asked[0].headers


async def test_redirects_are_followed() -> None:
    hops = {f"/{number}": to(f"/{number + 1}", 307) for number in range(10)}
    with WebSite(
        {**hops, "/10": Answer(b"here"), "/x": to("../y/z?q=1"), "/y/z?q=1": Answer(b"z")}
    ) as site:
        assert await fetched(f"http://site.test:{site.port}/0") == "here"
        assert await fetched(f"http://site.test:{site.port}/x") == "z"


async def test_redirects_end() -> None:
    with WebSite({"/": to("/")}) as site:
        assert await refused(f"http://site.test:{site.port}/") == "too many redirects"
    assert len(site.asked) == 11


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("http://other.test/", 'host "other.test" is not in allowed_hosts'),
        ("http://10.0.0.1/", 'host "10.0.0.1" is not in allowed_hosts'),
        ("//inside.test/", 'host "inside.test" resolves to private address 10.0.0.1'),
        ("file:///etc/passwd", 'unsupported scheme "file": only http and https are allowed'),
    ],
)
async def test_where_redirects_may_not_lead(target: str, told: str) -> None:
    with WebSite({"/": to(target)}) as site:
        url = f"http://site.test:{site.port}/"
        assert await refused(url, ("site.test", "inside.test")) == told


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("", "url is required"),
        ("ftp://site.test/", 'unsupported scheme "ftp": only http and https are allowed'),
        ("site.test", 'unsupported scheme "": only http and https are allowed'),
        ("http://nothing.test/", 'host "nothing.test" resolved to no addresses'),
        ("http://other.test/", 'host "other.test" is not in allowed_hosts'),
        ("http://sub.site.test/", 'host "sub.site.test" is not in allowed_hosts'),
    ],
)
async def test_what_is_refused(url: str, told: str) -> None:
    assert await refused(url, ("site.test", "nothing.test")) == told


async def test_an_allowed_host_may_be_written_in_any_case() -> None:
    with WebSite({"/": Answer(b"here")}) as site:
        assert await fetched(f"http://Site.TEST:{site.port}/", ("sITE.test",)) == "here"


async def test_an_error_of_the_server_is_told_with_its_text() -> None:
    with WebSite({"/": Answer(b"no such page", 404)}) as site:
        assert await refused(f"http://site.test:{site.port}/") == "HTTP 404: no such page"


async def test_a_server_that_is_not_there() -> None:
    with WebSite({}) as site:
        pass
    assert "cannot connect" in await refused(f"http://site.test:{site.port}/")


async def test_of_several_addresses_the_next_is_asked_where_one_refuses() -> None:
    async def two(_: str) -> Sequence[str]:
        return ["127.0.0.2", "127.0.0.1"]

    with WebSite({"/": Answer(b"here")}) as site:
        url = f"http://site.test:{site.port}/"
        assert await fetched(url, (), Network(two, lambda _: True)) == "here"
    assert len(site.asked) == 1


async def test_no_proxy_cookie_or_password_comes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    cookie = {"set-cookie": "session=1", "location": "/there"}
    with WebSite({"/": Answer(b"", 302, cookie), "/there": Answer(b"here")}) as site:
        assert await fetched(f"http://site.test:{site.port}/") == "here"
    assert not {"cookie", "authorization", "proxy-authorization"} & set(site.asked[1].headers)


async def test_a_server_that_does_not_answer() -> None:
    with WebSite({}) as site, pytest.raises(ToolError, match=r"no answer within 0\.2s"):
        await fetch(f"http://site.test:{site.port}/", (), LOOPBACK, 0.2)


def edges(*rows: tuple[str, str, str]) -> list[tuple[str, bool]]:
    """Return addresses at the edges of networks, with whether each is public.

    A row is a network between two signs. Its first and last address are refused; the address before the first and
    the address after the last are public where the sign on that side is `+`, and refused where it is `-`.
    """
    cases = []
    for before, network, behind in rows:
        whole = ip_network(network)
        first, last = whole.network_address, whole.broadcast_address
        cases += [(str(first), False), (str(last), False)]
        cases += [(str(first - 1), before == "+")] if int(first) else []
        cases += [(str(last + 1), behind == "+")] if int(last) + 1 < 2**whole.max_prefixlen else []
    return list(dict.fromkeys(cases))


SPECIAL_IPV4 = edges(
    ("", "0.0.0.0/8", "+"),
    ("+", "10.0.0.0/8", "+"),
    ("+", "100.64.0.0/10", "+"),
    ("+", "127.0.0.0/8", "+"),
    ("+", "169.254.0.0/16", "+"),
    ("+", "172.16.0.0/12", "+"),
    ("+", "192.0.0.0/24", "+"),
    ("+", "192.0.2.0/24", "+"),
    ("+", "192.88.99.0/24", "+"),
    ("+", "192.168.0.0/16", "+"),
    ("+", "198.18.0.0/15", "+"),
    ("+", "198.51.100.0/24", "+"),
    ("+", "203.0.113.0/24", "+"),
    ("+", "224.0.0.0/4", "-"),
    ("-", "240.0.0.0/4", ""),
)

SPECIAL_IPV6 = edges(
    ("", "::/128", "-"),
    ("-", "::1/128", "-"),
    ("-", "::/96", "-"),  # IPv4-compatible
    ("-", "64:ff9b:1::/48", "-"),
    ("-", "100::/64", "-"),
    ("-", "100:0:0:1::/64", "-"),
    ("+", "2001::/32", "-"),  # Teredo
    ("-", "2001:2::/48", "-"),
    ("-", "2001:10::/28", "-"),
    ("+", "2001::/23", "+"),
    ("+", "2001:db8::/32", "+"),
    ("+", "3fff::/20", "+"),
    ("+", "4000::/3", "-"),
    ("-", "5f00::/16", "-"),
    ("-", "fc00::/7", "-"),
    ("-", "fe80::/10", "-"),
    ("-", "fec0::/10", "-"),
    ("-", "ff00::/8", ""),
)


@pytest.mark.parametrize(("address", "public"), [*SPECIAL_IPV4, *SPECIAL_IPV6])
def test_edges_of_special_networks_are_judged_by_the_table(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(("address", "public"), SPECIAL_IPV4)
@pytest.mark.parametrize(("prefix", "shift"), [("::ffff:0:0", 0), ("64:ff9b::", 0), ("2002::", 80)])
def test_ipv4_address_inside_an_ipv6_address_is_judged_as_itself(
    prefix: str, shift: int, address: str, public: bool
) -> None:
    whole = IPv6Address(int(IPv6Address(prefix)) | int(IPv4Address(address)) << shift)
    assert is_public(str(whole)) is public


@pytest.mark.parametrize("table", [NOT_PUBLIC_IPV4, NOT_PUBLIC_IPV6])
def test_each_row_of_the_tables_has_its_edges_tested(table: tuple[tuple[str, str], ...]) -> None:
    tested = {address for address, _ in (*SPECIAL_IPV4, *SPECIAL_IPV6)}
    assert {str(ip_network(network).network_address) for network, _ in table} <= tested


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "fe80::1%eth0",
        "::ffff:0:a00:1",  # IPv4-translated, RFC 2765
        "2001:0:5db8:d70e::f5ff:fffe",  # a client of Teredo in 10.0.0.0/8
        "no address",
        "127.1",
    ],
)
def test_addresses_that_are_not_the_internets(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "2606:4700::1111", "64:ff9b::5db8:d70e", "192.31.196.1", "2620:4f:8000::1"],
)
def test_addresses_of_the_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address", ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "::7f00:1"]
)
async def test_page_at_an_address_that_hides_ipv4_is_refused(address: str) -> None:
    told = await refused(f"http://[{address}]/latest/meta-data", network=Network())
    assert "is a private/reserved IP" in told


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("127.0.0.1", "address 127.0.0.1 is a private/reserved IP"),
        ("::1", "address ::1 is a private/reserved IP"),
        ("localhost", 'host "localhost" resolves to private address'),
        ("2130706433", 'host "2130706433" resolves to private address 127.0.0.1'),
        ("a" * 70, "could not be resolved"),
    ],
)
async def test_this_machine_is_never_asked(host: str, told: str) -> None:
    with pytest.raises(ToolError) as error:
        await checked_addresses(host, (), Network())
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("child", "told"),
    [
        ({}, 'host "127.0.0.1" is not in allowed_hosts'),
        ({"allowed_hosts": []}, 'host "127.0.0.1" is not in allowed_hosts'),
        ({"allowed_hosts": ["127.0.0.1"]}, "address 127.0.0.1 is a private/reserved IP"),
    ],
)
async def test_a_child_without_hosts_of_its_own_has_its_parents(
    provider: ScriptedProvider, tmp_path: Path, child: dict[str, list[str]], told: str
) -> None:
    provider.script("m-p", Says(calls=[calls_agent("c", "go")]), Says("done"))
    url = f"{provider.url}/v1/models"
    provider.script("m-c", Says(calls=[Call("url_fetch", {"url": url})]), Says("done"))
    agents = agent("p", sub_agents=["c"], allowed_hosts=["example.com"])
    agents |= agent("c", tools=["url_fetch"], **child)
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    assert work.of(ToolEnd)[0].content == told
