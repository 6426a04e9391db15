"""A key is put into config.toml, and nothing else there changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli

from axe_lsp.daemon.config_file import key_place, put_key, with_key
from axe_lsp.runtime.errors import ConfigError

PATH = Path("/config.toml")
KEY = "sk-test"
TABLE = '[providers.openai]\napi_key = "sk-test"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", TABLE),
        ("# mine", f"# mine\n\n{TABLE}"),
        ("[providers.ollama]\n", f"[providers.ollama]\n\n{TABLE}"),
        (
            "[providers.openai] # o\r\nbase_url = 'x' # b\r\n\r\n# end\r\n",
            "[providers.openai] # o\r\nbase_url = 'x' # b\r\n"
            'api_key = "sk-test"\r\n\r\n# end\r\n',
        ),
        ("[providers.openai]\napi_key = '' # none\n", TABLE[:-1] + " # none\n"),
        ("providers.openai.api_key = ''", 'providers.openai.api_key = "sk-test"'),
        ('[providers]\nopenai = { api_key = "" }', '[providers]\nopenai = { api_key = "sk-test" }'),
        ("\ufeff# mine\n", f"\ufeff# mine\n\n{TABLE}"),
    ],
)
def test_key_is_added_to_the_table_of_its_provider(before: str, after: str) -> None:
    assert with_key(before, PATH, "openai", KEY) == after


@pytest.mark.parametrize(
    "before", ["", TABLE.replace(KEY, "  "), TABLE.replace(KEY, ""), "# mine\n[providers.openai]\n"]
)
def test_empty_key_gives_the_position_for_a_key(before: str) -> None:
    after = with_key(before, PATH, "openai", "")
    assert tomli.loads(after)["providers"]["openai"]["api_key"] == ""
    place = key_place(after, "openai")
    assert place is not None
    assert after[: place.start].endswith('\napi_key = "')
    assert after[place.end] == '"'


def test_existing_key_is_kept() -> None:
    assert with_key(TABLE, PATH, "openai", KEY) == TABLE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[providers.openai]\napi_key = 'other'", "has another key of openai already"),
        ("[providers.openai]\napi_key = 7", "has another key of openai already"),
        ("[providers.openai", "is not TOML"),
        ("[providers]\nopenai = { base_url = 'x' }", "write the key there as providers.openai"),
        ("[[providers]]\nname = 'x'", "write the key there as providers.openai.api_key"),
        ("providers = 7", "write the key there as providers.openai.api_key"),
    ],
)
def test_config_that_cannot_be_edited_safely_is_refused_without_the_key(
    text: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=r"^/config\.toml ") as caught:
        with_key(text, PATH, "openai", KEY)
    assert said in str(caught.value)
    assert KEY not in str(caught.value)


def test_the_file_is_made_for_the_user_alone(tmp_path: Path) -> None:
    path = put_key({"XDG_CONFIG_HOME": str(tmp_path / "new")}, "openai", KEY)
    assert path == tmp_path / "new" / "axe" / "config.toml"
    assert path.read_text("utf-8") == TABLE
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "axe" / "config.toml"
    path.parent.mkdir()
    path.write_text("# mine\n", "utf-8")
    path.chmod(0o644)
    put_key({"XDG_CONFIG_HOME": str(tmp_path)}, "openai", KEY)
    assert path.stat().st_mode & 0o777 == 0o600
    assert tomli.loads(path.read_text("utf-8"))["providers"]["openai"] == {"api_key": KEY}


def test_a_file_that_can_not_be_read_or_written_is_named(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    path = tmp_path / "axe" / "config.toml"
    path.mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"config\.toml can't be read: Is a directory"):
        put_key(environment, "openai", KEY)
    path.rmdir()
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        put_key(environment, "openai", KEY)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("", "utf-8")
    with pytest.raises(ConfigError, match=r"config\.toml can't be (read|written): "):
        put_key(environment, "openai", KEY)
    assert [each.name for each in tmp_path.iterdir()] == ["axe"]


def test_without_a_home_there_is_no_place_for_it() -> None:
    with pytest.raises(ConfigError, match="HOME"):
        put_key({}, "openai", KEY)
