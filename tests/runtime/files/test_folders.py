"""Where the user's own files lie."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from axe_lsp.agentfile.other_programs import GEMINI, OPENCODE
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import (
    cache_folder,
    config_folder,
    data_folder,
    expand_path,
    homes_of_dialects,
    state_folder,
)


@pytest.mark.parametrize(
    ("platform", "environment", "config", "data"),
    [
        ("linux", {"HOME": "/h"}, "/h/.config/axe", "/h/.local/share/axe"),
        (
            "linux",
            {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"},
            "/c/axe",
            "/d/axe",
        ),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": ""}, "/h/.config/axe", "/h/.local/share/axe"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/axe", "/h/.local/share/axe"),
        ("win32", {"APPDATA": "/a", "USERPROFILE": "/u"}, "/a/axe", "/u/.local/share/axe"),
    ],
)
@pytest.mark.req("001-C6")
def test_the_folders_are_those_of_axe(
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    environment: dict[str, str],
    config: str,
    data: str,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert config_folder(environment) == Path(config)
    assert data_folder(environment) == Path(data)


def test_what_can_be_made_again_is_in_the_cache() -> None:
    assert cache_folder({"HOME": "/h"}) == Path("/h/.cache/axe")
    assert cache_folder({"HOME": "/h", "XDG_CACHE_HOME": "/c"}) == Path("/c/axe")


@pytest.mark.parametrize("value", [".", ".config", "../x"])
def test_a_folder_of_the_user_does_not_depend_on_the_current_one(value: str) -> None:
    """Else a repository could bring the user's configuration and agents."""
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    relative = {"HOME": "/h", **dict.fromkeys((*names, "CODEX_HOME", "VIBE_HOME"), value)}
    for folder in (config_folder, data_folder, cache_folder, state_folder):
        assert folder(relative) == folder({"HOME": "/h"})
    assert homes_of_dialects(relative) == homes_of_dialects({"HOME": "/h"})


@pytest.mark.skipif(sys.platform == "win32", reason="paths without a drive")
def test_folders_of_opencode_add_up() -> None:
    """The later ones win (recorded with opencode 1.18.33)."""
    environment = {"HOME": "/h", "OPENCODE_CONFIG_DIR": "/v", "XDG_CONFIG_HOME": "/x"}
    assert OPENCODE.homes_in(homes_of_dialects(environment)) == (
        "/x/opencode",
        "/h/.opencode",
        "/v",
    )
    assert GEMINI.homes_in(homes_of_dialects(environment)) == ("/h/.gemini",)


def test_without_a_home_there_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"\$HOME is not set"):
        config_folder({})


@pytest.mark.parametrize(
    ("path", "expanded"),
    [
        ("", ""),
        ("~/docs", "/h/docs"),
        ("~", "/h"),
        ("~user/x", "~user/x"),
        ("a/~/b", "a/~/b"),
        ("$V/x", "v/x"),
        ("${V}x", "vx"),
        ("~/$V", "/h/v"),
        ("$UNSET/foo", "/foo"),
        ("/abs", "/abs"),
    ],
)
def test_paths_are_expanded_as_axe_does_it(path: str, expanded: str) -> None:
    assert expand_path(path, {"HOME": "/h", "V": "v"}) == expanded
