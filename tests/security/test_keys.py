"""Keys stay where they belong, whatever a provider sends back: a service that repeats a request tells them to nobody."""

from __future__ import annotations

import sys
import textwrap
import threading
from base64 import b64encode
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from support.command_line import Home
from support.plain_mcp import PLAIN
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider

HEADER, PASSWORD = "header/of-the-gateway", "p@ssword-of-the-gateway"
LOGIN = b64encode(f"user:{PASSWORD}".encode()).decode()
SPELLINGS = (HEADER, quote(HEADER, safe=""), PASSWORD, quote(PASSWORD), LOGIN)


@pytest.mark.parametrize("option", ["--verbose", "--json"])
def test_a_refusal_that_repeats_the_request_tells_no_secret_of_the_configuration(
    tmp_path: Path, provider: ScriptedProvider, option: str
) -> None:
    home = Home(tmp_path)
    (home.config / "config.toml").write_text(f"""\
[providers.gateway]
wire = "openai-chat"
auth = "none"
base_url = "http://user:{quote(PASSWORD)}@127.0.0.1:{provider.port}/v1"
headers = {{ X-Gateway-Key = "{HEADER}" }}
""")
    home.add({"a": 'name = "a"\nmodel = "gateway/m"\n'})
    provider.script("m", Refuses(400, f"not understood: {' '.join(SPELLINGS)}"))
    code, out, err = home.call("run", "a", "-p", "hi", option)
    assert code != 0
    (request,) = provider.requests
    assert (request.headers["x-gateway-key"], request.headers["authorization"]) == (
        HEADER,
        f"Basic {LOGIN}",
    )
    assert "[redacted]" in out + err
    kept = [each.read_bytes().decode("latin-1") for each in home.history.parent.glob("history.db*")]
    assert any("not understood" in each for each in kept)
    told = (out, err, *kept)
    assert [secret for secret in SPELLINGS for text in told if secret in text] == []


TOKEN = "password-Of-The-User-42"
LOOKING_LIKE_A_KEY = "sk-proj-0123456789abcdefghij"


@pytest.mark.parametrize("option", ["--verbose", "--json"])
@pytest.mark.parametrize("secret", [TOKEN, LOOKING_LIKE_A_KEY])
@pytest.mark.parametrize(
    "call",
    [
        lambda secret: Call("read_file", {secret: "a", "path": "a"}, "1"),
        lambda secret: Call("read_file", {"path": "a", "more": [{"inner": {secret: 1}}]}, "1"),
        lambda secret: Call(f"read_{secret}", {"path": "a"}, "1"),
        lambda secret: Call("read_file", {"path": "a"}, f"call_{secret}"),
    ],
    ids=["argument name", "nested argument name", "tool name", "call id"],
)
def test_names_in_a_tool_call_tell_no_secret(
    tmp_path: Path,
    provider: ScriptedProvider,
    call: Callable[[str], Call],
    secret: str,
    option: str,
) -> None:
    home = Home(tmp_path, {**provider.environment, "SOME_TOKEN": TOKEN})
    home.add({"a": 'name = "a"\nmodel = "openai/m"\ntools = ["read_file"]\n'})
    provider.script("m", Says(calls=[call(secret)]), Says("done"))
    code, out, err = home.call("run", "a", "-p", "hi", option)
    assert code == 0
    kept = [each.read_bytes().decode("latin-1") for each in home.history.parent.glob("history.db*")]
    assert any("[redacted]" in each for each in kept)
    assert [text for text in (out, err, *kept) if secret in text] == []


class Redirector:
    """Two servers on loopback: one sends each request on to the other, which notes what arrives."""

    def __init__(self) -> None:
        arrived = self.arrived = list[str]()
        asked = self.asked = list[str]()

        class Other(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                arrived.append(self.rfile.readline().decode())

        class First(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline()
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                asked.append(self.headers.get("x-token", ""))
                self.rfile.read(int(self.headers.get("content-length", 0)))
                place = f"location: http://127.0.0.1:{other.server_port}/".encode()
                self.wfile.write(
                    b"HTTP/1.1 307 Elsewhere\r\n%b\r\ncontent-length: 0\r\n\r\n" % place
                )

        other = HTTPServer(("127.0.0.1", 0), Other)
        first = HTTPServer(("127.0.0.1", 0), First)
        self.port = first.server_port
        self._servers = (other, first)
        self._threads = [threading.Thread(target=each.serve_forever) for each in self._servers]

    def __enter__(self) -> Redirector:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        for server, thread in zip(self._servers, self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()


@pytest.mark.parametrize("option", ["--verbose", "--json"])
@pytest.mark.parametrize("secret", [TOKEN, LOOKING_LIKE_A_KEY])
@pytest.mark.parametrize(
    "answer",
    [
        lambda secret: Says("hello", model=secret),
        lambda secret: Says("hello", stop_reason=secret),
        lambda secret: Says("hello", extra={"native_finish_reason": secret}),
    ],
    ids=["model", "stop reason", "field"],
)
def test_words_of_a_service_about_its_answer_tell_no_secret(
    tmp_path: Path,
    provider: ScriptedProvider,
    answer: Callable[[str], Says],
    secret: str,
    option: str,
) -> None:
    home = Home(tmp_path, {**provider.environment, "SOME_TOKEN": TOKEN})
    home.add({"a": 'name = "a"\nmodel = "openai/m"\n'})
    provider.script("m", answer(secret))
    code, out, err = home.call("run", "a", "-p", "hi", option)
    assert code == 0
    kept = [each.read_bytes().decode("latin-1") for each in home.history.parent.glob("history.db*")]
    assert [text for text in (out, err, *kept) if secret in text] == []


@pytest.mark.parametrize("name", ["{}", "a {}", "read_{}"])
def test_tool_of_an_mcp_server_that_is_named_after_its_token_is_left_out(
    tmp_path: Path, provider: ScriptedProvider, name: str
) -> None:
    home = Home(tmp_path, {**provider.environment, "SOME_TOKEN": TOKEN})
    program = tmp_path / "server.py"
    own = f"TOOLS.insert(0, {{**TOOLS[0], 'name': {name!r}.format(os.environ['X'])}})\nserve()\n"
    program.write_text(textwrap.dedent(PLAIN) + own)
    server = f'name = "s"\ntransport = "stdio"\ncommand = "{sys.executable}"\nargs = ["{program}"]'
    environment = 'env = { X = "${SOME_TOKEN}" }'
    table = f"[[mcp_servers]]\n{server}\n{environment}\n"
    home.add({"a": f'name = "a"\nmodel = "openai/m"\n{table}'})
    provider.script("m", Says("done"))
    code, out, err = home.call("run", "a", "-p", "hi", "--yes")
    assert (code, out) == (0, "done")
    assert ' MCP server "s" is left out: ' in err
    (request,) = provider.requests
    assert [each["function"]["name"] for each in request.body["tools"]] == ["tell"]
    state = [each for each in home.history.parent.rglob("*") if each.is_file()]
    assert any(b'"tell"' in each.read_bytes() for each in state)
    kept = [each.read_bytes().decode("latin-1") for each in state]
    assert [text for text in (out, err, *kept) if TOKEN in text] == []


@pytest.mark.parametrize("transport", ["streamable-http", "sse"])
def test_no_token_follows_an_mcp_server_to_another_address(tmp_path: Path, transport: str) -> None:
    home = Home(tmp_path, {"SERVER_TOKEN": "token-of-the-server"})
    with Redirector() as servers:
        table = f'url = "http://127.0.0.1:{servers.port}/mcp"\ntransport = "{transport}"'
        header = 'headers = { X-Token = "${SERVER_TOKEN}" }'
        home.add(
            {
                "a": f'name = "a"\nmodel = "ollama/m"\n[[mcp_servers]]\nname = "s"\n{table}\n{header}\n'
            }
        )
        code, _, err = home.call("run", "a", "-p", "hi")
    assert code != 0
    assert "edirect" in err
    assert set(servers.asked) == {"token-of-the-server"}
    assert servers.arrived == []
