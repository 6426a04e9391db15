"""Agents on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import AgentPlaces, Caller
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files import agent_files
from axe_lsp.runtime.files.agent_files import AgentFolders, Lookup, agent_places

GOOD = 'name = "shown"\nmodel = "openai/m"\n'


def put(folder: Path, name: str, text: str | bytes = GOOD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problem(folder: Path, name: str) -> str:
    with pytest.raises(ConfigError) as caught:
        AgentFolders([folder]).resolve(name)
    return str(caught.value)


def test_folders_are_searched_in_their_order(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    places = agent_places([tmp_path / "work"], environment, tmp_path / "flag")
    caller = Caller(
        folder=str(tmp_path / "work" / "near" / "axe" / "agents"), base=str(tmp_path / "sub")
    )
    order = [
        "flag",
        "sub/axe/agents",
        "sub/.axe/agents",
        "work/near/axe/agents",
        "work/axe/agents",
        "work/.axe/agents",
        "config/axe/agents",
        "work/far/axe/agents",
        "work/far/.axe/agents",
        "work/a/far/axe/agents",
    ]
    for number, folder in enumerate(reversed(order)):
        put(tmp_path / folder, "a", f'name = "{number}"\nmodel = "openai/m"\n')
        assert Lookup(places).resolver()("a", caller).name == str(number)


def test_an_agent_that_a_person_has_chosen_by_its_file_is_that_file(tmp_path: Path) -> None:
    places = AgentPlaces(first=(str(tmp_path / "first"),), user=str(tmp_path / "user"))
    put(tmp_path / "first", "a")
    chosen = put(tmp_path / "user", "a", 'name = "chosen"\nmodel = "openai/m"\n')
    resolve = Lookup(places).resolver(chosen)
    assert resolve("a", Caller(base=str(tmp_path))).name == "chosen"
    assert resolve("a", Caller(str(tmp_path / "user"))).name == "shown"
    chosen.unlink()
    with pytest.raises(ConfigError, match="agent config not found: a"):
        resolve("a", Caller())


def test_folders_below_a_workspace_are_searched_for_names_that_nearer_ones_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []

    def search(root: Path) -> list[Path]:
        searched.append(root)
        return [root / "sub" / "axe" / "agents"]

    monkeypatch.setattr(agent_files, "agent_folders_below", search)
    put(tmp_path / "axe" / "agents", "near")
    put(tmp_path / "sub" / "axe" / "agents", "far")
    resolve = Lookup(AgentPlaces(roots=(str(tmp_path),))).resolver()
    resolve("near", Caller())
    assert searched == []
    for _ in range(2):
        resolve("far", Caller())
    assert searched == [tmp_path]


def test_an_agent_is_found_by_its_file_name_not_by_its_name(tmp_path: Path) -> None:
    put(tmp_path, "file")
    assert AgentFolders([tmp_path]).resolve("file").name == "shown"
    assert problem(tmp_path, "shown") == "agent config not found: shown"


def test_an_open_text_wins_over_the_file_and_needs_none(tmp_path: Path) -> None:
    path = put(tmp_path, "a")
    buffers = {
        path: 'name = "typed"\nmodel = "openai/m"\n',
        tmp_path / "new.toml": 'name = "new"\nmodel = "openai/m"\n',
    }
    folders = AgentFolders([tmp_path], buffers)
    assert folders.resolve("a").name == "typed"
    assert folders.resolve("new").name == "new"
    assert [name for name, _, _ in folders.list()] == ["a", "new"]


@pytest.mark.parametrize("name", ["", "  "])
def test_a_blank_name_is_refused(tmp_path: Path, name: str) -> None:
    assert problem(tmp_path, name) == "agent name must not be empty"


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "..", "a..b", "a\0b"])
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    assert "must not contain path separators or traversal sequences" in problem(tmp_path, name)


@pytest.mark.req("001-5.2h", "001-5.2i", "001-5.2k")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "agent config missing required field: name"),
        (
            GOOD + "[sub_agents_config]\nmax_depth = 6\n",
            "sub_agents_config.max_depth cannot exceed 5",
        ),
        (
            GOOD + "[sub_agents_config]\nmax_depth = -1\n",
            "sub_agents_config.max_depth must be non-negative",
        ),
        (
            GOOD + "[sub_agents_config]\ntimeout = -1\n",
            "sub_agents_config.timeout must be non-negative",
        ),
        (GOOD + 'tools = ["nonsense"]\n', 'unknown tool "nonsense" in tools config'),
    ],
)
def test_an_invalid_agent_is_described_in_axes_words(
    tmp_path: Path, text: str, message: str
) -> None:
    put(tmp_path, "a", text)
    assert problem(tmp_path, "a") == message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'name = "p\xff"', "{path} is not UTF-8 (line 1, column 10: byte 0xFF)"),
        ("name = ", "line 1, "),
        (GOOD + "files = 3", ""),
        (GOOD + "description = '\0'", "line 3"),
    ],
)
def test_a_file_that_cannot_be_read_as_an_agent_is_a_clear_error(
    tmp_path: Path, text: str | bytes, reason: str
) -> None:
    path = put(tmp_path, "a", text)
    message = 'failed to parse agent config "a": ' + reason.format(path=path)
    assert problem(tmp_path, "a").startswith(message)


def test_a_byte_order_mark_and_crlf_do_no_harm(tmp_path: Path) -> None:
    put(tmp_path, "a", b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert AgentFolders([tmp_path]).resolve("a").name == "shown"


def test_a_folder_in_the_place_of_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a.toml").mkdir()
    expected = f'failed to read agent config "a": {tmp_path}/a.toml: Is a directory'
    assert problem(tmp_path, "a") == expected
    assert list(AgentFolders([tmp_path]).list()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_the_place_of_a_file_is_a_clear_error_and_nobody_waits_for_it(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "a.toml")
    expected = f'failed to read agent config "a": {tmp_path}/a.toml: it is not a regular file'
    assert problem(tmp_path, "a") == expected
    assert [str(error) for _, _, error in AgentFolders([tmp_path]).list()] == [expected]


def test_an_unreadable_file_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    put(tmp_path, "a")
    monkeypatch.setattr(
        "axe_lsp.runtime.files.agent_files.read_file", refuse
    )  # The tests may run as root.
    assert problem(tmp_path, "a").endswith("a.toml: Permission denied")


def test_the_list_tells_of_good_and_bad_agents_the_first_of_a_name_counts(tmp_path: Path) -> None:
    put(tmp_path / "1", "b", 'name = "first"\nmodel = "openai/m"\n')
    put(tmp_path / "1", "bad", "nonsense")
    (tmp_path / "1" / "note.txt").write_text("no agent")
    put(tmp_path / "2", "a")
    put(tmp_path / "2", "b", 'name = "second"\nmodel = "openai/m"\n')
    listed = list(AgentFolders([tmp_path / n for n in ("1", "2", "missing")]).list())
    assert [name for name, _, _ in listed] == ["b", "bad", "a"]
    assert [
        each.name if isinstance(each, AgentDefinition) else "error" for _, _, each in listed
    ] == ["first", "error", "shown"]


def test_folders_that_cannot_be_searched_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert problem(tmp_path / "file", "a") == "agent config not found: a"
    assert problem(tmp_path, "x" * (os.pathconf(tmp_path, "PC_NAME_MAX") + 1)).startswith(
        "agent config not found: xxx"
    )
