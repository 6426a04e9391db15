"""Keys stay where they belong, whatever a provider sends back: a service that repeats a request tells them to nobody."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import pytest

from support.command_line import Home
from support.scripted_provider import Refuses, ScriptedProvider

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
