"""config.toml and the environment."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.runtime.errors import ConfigError, MissingKeyError
from axe_lsp.runtime.files.user_config import (
    UserConfig,
    known_secrets,
    load_user_config,
    usable_config,
)


def config(tmp_path: Path, text: str | bytes | None = None, **environment: str) -> UserConfig:
    folder = tmp_path / "axe"
    folder.mkdir(exist_ok=True)
    if text is not None:
        (folder / "config.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_user_config({"XDG_CONFIG_HOME": str(tmp_path), **environment})


@pytest.mark.req("001-7.3.9")
def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    text = '[providers.openai]\napi_key = "file"\nbase_url = "http://file"\n'
    loaded = config(tmp_path, text)
    assert (loaded.api_key("openai"), loaded.base_url("openai")) == ("file", "http://file")
    loaded = config(tmp_path, None, OPENAI_API_KEY="env", AXE_OPENAI_BASE_URL="http://env")
    assert (loaded.api_key("openai"), loaded.base_url("openai")) == ("env", "http://env")
    assert config(tmp_path, None, OPENAI_API_KEY="").api_key("openai") == "file"


def test_no_file_is_an_empty_file(tmp_path: Path) -> None:
    loaded = config(tmp_path)
    assert (loaded.api_key("openai"), loaded.base_url("openai")) == ("", "")


def test_unknown_tables_and_keys_are_ignored(tmp_path: Path) -> None:
    assert config(tmp_path, 'z = 1\n[providers.x]\nfoo = 2\napi_key = "k"\n').api_key("x") == "k"


@pytest.mark.parametrize(
    "text",
    [
        "[providers",
        "providers = 3",
        "[providers]\nopenai = 3",
        "[providers.openai]\napi_key = 5",
        b"api = \xff",
    ],
)
def test_a_malformed_file_is_a_clear_error(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(ConfigError, match=r"^failed to parse config file: .+") as caught:
        config(tmp_path, text)
    path = tmp_path / "axe" / "config.toml"
    assert str(path) in str(caught.value)
    assert "codec" not in str(caught.value)  # That would be Python's word.
    assert caught.value.hint == f"`axe-lsp check {path}` shows the place."


def test_a_folder_in_its_place_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "axe" / "config.toml").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"^failed to read config file: .+"):
        config(tmp_path)


@pytest.mark.req("001-5.7c")
def test_a_key_that_is_needed_and_missing_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MissingKeyError) as caught:
        config(tmp_path).require_key("anthropic")
    assert str(caught.value) == (
        'API key for provider "anthropic" is not configured '
        "(set ANTHROPIC_API_KEY or add to config.toml)"
    )
    assert config(tmp_path).require_key("ollama") == ""


def test_white_space_around_a_value_is_no_part_of_it(tmp_path: Path) -> None:
    variables = {"OPENAI_API_KEY": "sk\n", "AXE_OPENAI_BASE_URL": " http://x\n"}
    loaded = config(tmp_path, None, **variables)
    assert (loaded.api_key("openai"), loaded.base_url("openai")) == ("sk", "http://x")


def test_the_variable_of_a_provider() -> None:
    assert PROVIDERS["openai"].key_variable == "OPENAI_API_KEY"
    assert PROVIDERS["google"].key_variable == "GEMINI_API_KEY"


def test_every_key_is_known_as_a_secret_even_if_the_file_is_broken(tmp_path: Path) -> None:
    text = '[providers.openai]\napi_key = "in-file"\n'
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "SOME_API_KEY": "in-env", "PATH": "/bin"}
    config(tmp_path, text)
    assert known_secrets(environment) == {"in-file", "in-env"}
    config_file = tmp_path / "axe" / "config.toml"
    config_file.write_text("broken =")
    assert known_secrets(environment) == {"in-env"}


def test_what_the_environment_calls_a_secret_is_one() -> None:
    names = ("X_API_KEY", "ISSUES_TOKEN", "CLIENT_SECRET", "DB_PASSWORD", "TOKEN_COUNT")
    found = known_secrets({name: f"value-of-{name}" for name in names})
    assert found == {f"value-of-{name}" for name in names[:-1]}


@pytest.mark.parametrize(
    "name",
    [
        *("PGPASSWORD", "MYSQL_PWD", "REDISCLI_AUTH", "SQLCMDPASSWORD", "SNOWSQL_PWD", "SSHPASS"),
        *("BORG_PASSPHRASE", "PASSPHRASE", "RSYNC_PASSWORD", "CONSUL_HTTP_AUTH", "ETCDCTL_USER"),
        *("ANSIBLE_BECOME_PASS", "DJANGO_SECRET_KEY", "SECRET_KEY_BASE", "DEPLOY_PRIVATE_KEY"),
        *(
            "AZURE_STORAGE_KEY",
            "AZURE_STORAGE_CONNECTION_STRING",
            "DOCKER_AUTH_CONFIG",
            "GITHUB_PAT",
        ),
        *("BW_SESSION", "npm_config_//registry.example/:_authToken", "pgpassword"),
    ],
)
def test_variable_of_a_program_that_holds_a_password_is_a_secret(name: str) -> None:
    assert known_secrets({name: "value-of-it"}) == {"value-of-it"}


@pytest.mark.parametrize(
    "name", ["PWD", "OLDPWD", "SSH_ASKPASS", "SSH_AUTH_SOCK", "PGPASSFILE", "XAUTHORITY", "BYPASS"]
)
def test_variable_with_a_path_is_no_secret(name: str) -> None:
    assert known_secrets({name: "/home/me/place"}) == frozenset()


@pytest.mark.parametrize("name", ["DATABASE_URL", "https_proxy", "PIP_INDEX_URL", "ANYTHING"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("postgres://me:s%2Fcret@db:5432/x", {"me:s%2Fcret", "me:s/cret", "s%2Fcret", "s/cret"}),
        ("mongodb://a:first@h1,mongodb://b:second@h2", {"a:first", "first", "b:second", "second"}),
        ('{"url": "amqp://me:word@host/"}', {"me:word", "word"}),
        ("redis://:word@host", {":word", "word"}),
        ("https://a-token@host/x.git", {"a-token"}),
        ("https://a-token:x-oauth-basic@host", {"a-token", "a-token:x-oauth-basic"}),
        ("jdbc:postgresql://host/db?user=me&password=word", {"word"}),
        ("host=db user=me password=word", {"word"}),
        ("AccountName=me;AccountKey=a+b==;EndpointSuffix=x", {"a+b=="}),
        ("postgres://postgres:postgres@localhost/db", {"postgres:postgres"}),
        ("mysql://app:password@localhost/db", {"app:password"}),
        ("ssh://deploying@host", set[str]()),
        ("https://host/@me", set[str]()),
    ],
)
def test_credentials_in_addresses_are_secrets_in_each_part_and_spelling(
    name: str, value: str, told: set[str]
) -> None:
    found = known_secrets({name: value})
    headers = {b64encode(unquote(each).encode()).decode() for each in told if ":" in each}
    expected = told | headers
    assert found == expected | {quote(each, safe="") for each in expected}


def test_what_the_file_itself_keeps_secret_is_one_in_each_spelling(tmp_path: Path) -> None:
    text = """\
[providers.gateway]
wire = "openai-chat"
base_url = "https://user:p%40ssword@host/v1"
headers = { X-Key = "k/1", Authorization = "Bearer b", X-Tenant = "t", X-Token = "Token ${T}" }
query = { key = "q&1", version = "v" }
"""
    config(tmp_path, text)
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "AXE_GATEWAY_BASE_URL": "https://u:word@host"}
    login, other = (b64encode(each).decode() for each in (b"user:p@ssword", b"u:word"))
    plain = {"p%40ssword", "p@ssword", "k/1", "Bearer b", "b", "q&1", login, "word", other}
    plain |= {"user:p%40ssword", "user:p@ssword", "u:word"}
    assert known_secrets(environment) == plain | {quote(each, safe="") for each in plain}
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "SOMETHING": "gateway-key"}
    config(tmp_path, '[providers.gateway]\nheaders = { X-Key = "gateway-key" }\n')
    assert usable_config(environment).provider_secrets() == {"gateway-key"}
