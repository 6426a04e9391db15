"""What `initialize` tells about the client, and that nothing in it can keep the server from starting."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.rpc.client import Client, presented_token, read_client

wrong_values = st.sampled_from(
    [None, True, -1, 1.5, "x", "", [], [1], [None], {}, {"uri": 5}, {"name": []}, {"general": 1}]
)
names = st.sampled_from(
    ["processId", "clientInfo", "workspaceFolders", "rootUri", "rootPath", "capabilities"]
)


def test_options_may_stand_in_the_section_that_settings_stand_in() -> None:
    options = {"axe": {"trusted": False, "run": {"timeout": 5}}, "inlayHints": False}
    client = read_client({"initializationOptions": options})
    assert client.options["trusted"] is False
    assert client.options["run"] == {"timeout": 5}
    assert client.options["inlayHints"] is False


def test_client_introduces_itself() -> None:
    client = read_client(
        {
            "processId": 42,
            "clientInfo": {"name": "Neovim", "version": "0.12"},
            "workspaceFolders": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}],
            "rootUri": "file:///a",
            "initializationOptions": {"trusted": False},
            "capabilities": {"workspace": {"applyEdit": True, "symbol": {}}},
        }
    )
    assert (client.process_id, client.name, client.version) == (42, "Neovim", "0.12")
    assert client.folders == ("file:///a", "file:///b")
    assert client.options == {"trusted": False}
    assert client.supports("workspace.applyEdit")
    assert client.capability("workspace.symbol") == {}
    assert not client.supports("workspace.applyEdit.deeper")
    assert client.capability("window.workDoneProgress") is None


@pytest.mark.parametrize(
    ("params", "folders"),
    [
        ({}, ()),
        ({"rootUri": None, "workspaceFolders": None}, ()),
        ({"rootUri": "file:///a", "rootPath": "/b"}, ("file:///a",)),
        ({"rootUri": "file:///a", "workspaceFolders": None}, ("file:///a",)),
        ({"rootUri": "file:///a", "workspaceFolders": []}, ()),
        ({"rootPath": "/a b"}, ("file:///a%20b",)),
    ],
)
def test_folders_come_from_the_newest_member_that_says_something(
    params: dict[str, Any], folders: tuple[str, ...]
) -> None:
    assert read_client(params).folders == folders


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (None, "utf-16"),
        ([], "utf-16"),
        (["utf-16"], "utf-16"),
        (["utf-16", "utf-8"], "utf-8"),
        (["utf-32", "utf-16"], "utf-32"),
        (["utf-7", 8, "utf-32"], "utf-32"),
        (["utf-7"], "utf-16"),
        ("utf-8", "utf-16"),
    ],
)
def test_utf_8_is_preferred_and_utf_16_the_default(offered: Any, chosen: str) -> None:
    client = read_client({"capabilities": {"general": {"positionEncodings": offered}}})
    assert client.position_encoding == chosen


@given(st.dictionaries(names, wrong_values))
def test_values_of_a_wrong_type_count_as_left_out(params: dict[str, Any]) -> None:
    client = read_client(params)
    assert isinstance(client, Client)
    assert client.position_encoding == "utf-16"


def test_the_token_is_no_option_that_anything_else_sees() -> None:
    for options in ({"axeToken": "secret"}, {"axe": {"axeToken": "secret"}}):
        params = {"initializationOptions": options}
        assert presented_token(params) == "secret"
        assert "axeToken" not in read_client(params).options
    assert presented_token(None) == presented_token({"initializationOptions": []}) == ""
