"""The region, the keys and the signature of requests to AWS."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.runtime.errors import ConfigError, MissingKeyError
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.providers.aws import AwsKeys, signed_headers
from axe_lsp.runtime.providers.http_provider import Service, service_of
from support.engines import agent, bench
from support.scripted_provider import Says, ScriptedProvider

auth: Any = pytest.importorskip("botocore.auth", reason="pip install -e '.[dev]' brings it")
awsrequest: Any = pytest.importorskip("botocore.awsrequest")
credentials: Any = pytest.importorskip("botocore.credentials")

KEYS = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "sécret"}


def service(
    tmp_path: Path, text: str = "", provider: str = "bedrock", **environment: str
) -> Service:
    (tmp_path / "axe").mkdir(exist_ok=True)
    (tmp_path / "axe" / "config.toml").write_text(text)
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    return service_of(ModelName(provider, "m"), load_user_config({**home, **environment}))


@pytest.mark.parametrize("token", ["", "session+token/="])
@pytest.mark.parametrize(
    "url",
    [
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b-v1%3A0/converse",
        "http://127.0.0.1:8080/model/arn%3Aaws%3Ax%2Fy/converse-stream",
        "https://proxy.example:443/under/model/m/converse?b=2&a=%20x&a=1&empty=",
        "http://user:pass@[::1]:9/model/%C3%A9/converse",
    ],
)
def test_the_signature_is_botocores(url: str, token: str) -> None:
    body, headers = '{"é": 1}'.encode(), {"content-type": "application/json"}
    request = awsrequest.AWSRequest("POST", url.replace("user:pass@", ""), dict(headers), body)
    keys = credentials.Credentials("AKID", "sécret", token or None)
    auth.SigV4Auth(keys, "bedrock", "us-east-1").add_auth(request)
    moment = request.headers["X-Amz-Date"]
    now = datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    ours = signed_headers(
        AwsKeys("AKID", "sécret", token), "us-east-1", url, headers, body, now=now
    )
    assert ours["authorization"] == request.headers["Authorization"]
    assert ours["x-amz-date"] == moment
    assert ours.get("x-amz-security-token") == request.headers.get("X-Amz-Security-Token")


async def test_a_signed_request_is_sent_without_the_secret(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("fine"))
    keys = {**KEYS, "AWS_BEARER_TOKEN_BEDROCK": "", "AWS_SESSION_TOKEN": "for hours"}
    async with bench(provider, tmp_path, agent("solo", "bedrock"), keys) as work:
        assert (await work.run("solo")).content == "fine"
    (request,) = provider.requests
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "/eu-central-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.headers["x-amz-security-token"] == "for hours"
    assert "sécret" not in str(request)


async def test_a_key_of_bedrock_is_sent_as_it_is(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("fine"))
    async with bench(provider, tmp_path, agent("solo", "bedrock"), KEYS) as work:
        await work.run("solo")
    assert provider.requests[0].headers["authorization"] == "Bearer key-bedrock"


@pytest.mark.parametrize(
    ("text", "environment", "host"),
    [
        ("", {"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "x"}, "eu-west-1"),
        ('[providers.bedrock]\nregion = "x"\n', {"AWS_DEFAULT_REGION": "eu-west-2"}, "eu-west-2"),
        ('[providers.bedrock]\nregion = "us-west-2"\n', {}, "us-west-2"),
    ],
)
def test_the_region_is_a_part_of_the_address(
    tmp_path: Path, text: str, environment: dict[str, str], host: str
) -> None:
    found = service(tmp_path, text, AWS_BEARER_TOKEN_BEDROCK="k", **environment)
    assert found.base_url == f"https://bedrock-runtime.{host}.amazonaws.com"
    assert found.is_own


def test_no_region_is_an_error_unless_nothing_needs_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'region for provider "bedrock".*set AWS_REGION'):
        service(tmp_path, **KEYS)
    with pytest.raises(ConfigError, match="not an AWS region"):
        service(tmp_path, AWS_REGION="evil.example/", **KEYS)
    elsewhere = {"AXE_BEDROCK_BASE_URL": "http://127.0.0.1:1"}
    assert not service(tmp_path, AWS_BEARER_TOKEN_BEDROCK="k", **elsewhere).is_own
    with pytest.raises(ConfigError):
        service(tmp_path, **elsewhere, **KEYS)
    named = {"AXE_BEDROCK_BASE_URL": "https://bedrock-runtime-fips.us-west-1.amazonaws.com"}
    assert service(tmp_path, **named, **KEYS).sign is not None


def test_missing_keys_are_named_both_ways(tmp_path: Path) -> None:
    with pytest.raises(MissingKeyError) as caught:
        service(tmp_path, AWS_REGION="us-east-1", AWS_ACCESS_KEY_ID="AKID")
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert name in str(caught.value)


def test_keys_may_be_in_a_profile(tmp_path: Path) -> None:
    file = tmp_path / ".aws" / "credentials"
    file.parent.mkdir()
    file.write_text(
        "[default]\naws_access_key_id = ONE\naws_secret_access_key = a%b\n"
        "[work]\naws_access_key_id = TWO\naws_secret_access_key = c\naws_session_token = t\n"
    )

    def headers(**environment: str) -> dict[str, str]:
        found = service(tmp_path, AWS_REGION="us-east-1", **environment)
        kind = {"content-type": "application/json"}
        return dict(found.proof("https://x/model/m/converse", kind, b"{}"))

    assert "Credential=ONE/" in headers()["authorization"]
    assert headers(AWS_PROFILE="work")["x-amz-security-token"] == "t"
    assert "Credential=AKID/" in headers(AWS_PROFILE="work", **KEYS)["authorization"]
    with pytest.raises(MissingKeyError):
        headers(AWS_PROFILE="absent")
    file.write_text("aws_secret_access_key = secret without a section")
    with pytest.raises(ConfigError) as caught:
        headers()
    assert "without a section" not in str(caught.value)


def test_a_named_provider_speaks_to_bedrock_in_another_region(tmp_path: Path) -> None:
    text = '[providers.far]\nwire = "bedrock"\nregion = "ap-south-1"\n'
    found = service(tmp_path, text, "far", AWS_BEARER_TOKEN_BEDROCK="not its own", **KEYS)
    assert found.base_url == "https://bedrock-runtime.ap-south-1.amazonaws.com"
    assert found.sign is not None
    assert found.key == ""


def test_the_region_of_a_named_provider_is_its_own(tmp_path: Path) -> None:
    text = '[providers.bedrock-eu]\nwire = "bedrock"\nregion = "eu-west-1"\n'
    here = {"AWS_REGION": "us-east-1", "BEDROCK_EU_API_KEY": "k"}
    found = service(tmp_path, text, "bedrock-eu", **here)
    assert found.base_url == "https://bedrock-runtime.eu-west-1.amazonaws.com"
    text = '[providers.bedrock-eu]\nwire = "bedrock"\n'
    found = service(tmp_path, text, "bedrock-eu", **here)
    assert found.base_url == "https://bedrock-runtime.us-east-1.amazonaws.com"


def test_secrets_of_aws_are_known(tmp_path: Path) -> None:
    more = {"AWS_BEARER_TOKEN_BEDROCK": "bearer", "AWS_SESSION_TOKEN": "hours"}
    found = service(tmp_path, AWS_REGION="us-east-1", **KEYS, **more)
    assert {"sécret", "bearer", "hours"} <= found.config.secrets()


def test_only_models_that_can_be_told_what_to_cache_are_told(tmp_path: Path) -> None:
    config = service(tmp_path, AWS_REGION="us-east-1", **KEYS).config
    nova = service_of(ModelName("bedrock", "us.amazon.nova-pro-v1:0"), config)
    llama = service_of(ModelName("bedrock", "meta.llama4-maverick-17b-instruct-v1:0"), config)
    assert nova.unsupported == frozenset()
    assert llama.unsupported == {"cache_control"}
