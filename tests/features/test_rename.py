"""Another name for an agent, everywhere."""

from __future__ import annotations

import pytest

from axe_lsp.features.edit import Edit, RenameError
from axe_lsp.features.rename import follow_move, renamable, rename
from axe_lsp.workspace.workspace import Change, Workspace
from support.edits import edited
from support.fixture import (
    FOLDER,
    PLACES,
    USER_FOLDER,
    Fixture,
    open_fixture,
    texts_of,
    uri_of,
)


def renamed(fixture: str, new_name: str) -> Edit | None:
    opened = open_fixture(fixture)
    text_of = texts_of(fixture).__getitem__
    return rename(opened.snapshot, opened.file, opened.offset, new_name, text_of)


def check_rename(before: str, new_name: str, after: str) -> None:
    edit = renamed(before, new_name)
    assert edit is not None
    assert edited(texts_of(before), edit) == texts_of(after)


def check_refusal(fixture: str, new_name: str, reason: str) -> None:
    with pytest.raises(RenameError) as caught:
        renamed(fixture, new_name)
    assert str(caught.value) == reason


def moved(fixture: str, old: str, new: str) -> dict[str, str]:
    """Return what the files say after the user's move of a file; the move itself is left out."""
    opened, texts = open_fixture(fixture), texts_of(fixture)
    return edited(texts, follow_move(opened.snapshot, old, new, texts.__getitem__))


# -- the whole agent


def test_the_file_its_name_and_every_list_change_together() -> None:
    check_rename(
        """
        --- a.toml
        # calls lint
        sub_agents = [  "b",'lint' , "linter"] # lint
        description = "lint"
        --- b.toml
        sub_agents = ["a", "li<|>nt"]
        task = { types = [\"\"\"lint\"\"\", "plan"] }
        --- lint.toml
        # lint
        name    =   'lint'   # the name
        sub_agents = ["lint"]
        """,
        "check it",
        """
        --- a.toml
        # calls lint
        sub_agents = [  "b",'check it' , "linter"] # lint
        description = "lint"
        --- b.toml
        sub_agents = ["a", "check it"]
        task = { types = [\"\"\"check it\"\"\", "plan"] }
        --- check%20it.toml
        # lint
        name    =   'check it'   # the name
        sub_agents = ["check it"]
        """,
    )


def test_it_starts_from_the_name_in_the_file_as_well() -> None:
    check_rename(
        '--- a.toml\nname = "a<|>"\n--- b.toml\nsub_agents = ["a"]\n',
        "c",
        '--- c.toml\nname = "c"\n--- b.toml\nsub_agents = ["c"]\n',
    )


def test_quotes_change_only_where_they_will_not_do() -> None:
    check_rename(
        "--- a.toml\nname = 'a<|>'\nsub_agents = ['''a''', \"a\"]\n",
        'it\'s "b"',
        '--- it%27s%20%22b%22.toml\nname = "it\'s \\"b\\""\n'
        'sub_agents = ["it\'s \\"b\\"", "it\'s \\"b\\""]\n',
    )


def test_carriage_returns_tabs_and_astral_characters_stay_where_they_are() -> None:
    check_rename(
        '--- %F0%9F%98%80.toml\nname\t= "😀<|>"\r\n#\t😀\r\nsub_agents = [\r\n\t"😀",\r\n]\r\n',
        "𝔸",
        '--- %F0%9D%94%B8.toml\nname\t= "𝔸"\r\n#\t😀\r\nsub_agents = [\r\n\t"𝔸",\r\n]\r\n',
    )


def test_a_broken_file_is_renamed_as_far_as_it_can_be_read() -> None:
    check_rename(
        '--- a.toml\nsub_agents = ["b<|>", "c"\nskill = "\n--- b.toml\nname = \n',
        "d",
        '--- a.toml\nsub_agents = ["d", "c"\nskill = "\n--- d.toml\nname = \n',
    )


def test_a_file_that_calls_itself_otherwise_gets_the_new_name() -> None:
    check_rename('--- a.toml\nname = "A<|>"\n', "b", '--- b.toml\nname = "b"\n')
    check_rename('--- a.toml\nname = "A<|>"\n', "a", '--- a.toml\nname = "a"\n')


def test_capitals_alone_may_change() -> None:
    check_rename(
        '--- a.toml\nname = "a<|>"\n--- b.toml\nsub_agents = ["a"]\n',
        "A",
        '--- A.toml\nname = "A"\n--- b.toml\nsub_agents = ["A"]\n',
    )


def test_the_same_name_again_changes_nothing() -> None:
    assert renamed('--- a.toml\nname = "a<|>"\n--- b.toml\nsub_agents = ["a"]\n', "a") == ()


def test_an_agent_of_the_user_is_renamed_where_the_workspace_names_it() -> None:
    check_rename(
        '--- a.toml\nsub_agents = ["b<|>"]\n--- user: b.toml\n--- user: c.toml\nsub_agents = ["b"]\n',
        "d",
        '--- a.toml\nsub_agents = ["d"]\n--- user: d.toml\n--- user: c.toml\nsub_agents = ["d"]\n',
    )


def test_names_that_mean_another_agent_are_left_alone() -> None:
    check_rename(
        """
        --- a.toml
        sub_agents = ["b<|>"]
        --- b.toml
        --- /project/sub/axe/agents: b.toml
        --- /project/sub/axe/agents: c.toml
        sub_agents = ["b"]
        """,
        "d",
        """
        --- a.toml
        sub_agents = ["d"]
        --- d.toml
        --- /project/sub/axe/agents: b.toml
        --- /project/sub/axe/agents: c.toml
        sub_agents = ["b"]
        """,
    )


def test_an_agent_in_no_folder_of_agents_keeps_its_file() -> None:
    check_rename('--- ../loose/a.toml\nname = "x<|>"\n', "b", '--- ../loose/a.toml\nname = "b"\n')


# -- names that will not do


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "agent name must not be empty"),
        (" \t", "agent name must not be empty"),
        (
            "x/y",
            'agent name "x/y" must not contain path separators or traversal sequences',
        ),
        (
            "x\ny",
            'agent name "x\\ny" must not contain line breaks or other control characters, nor '
            "begin or end with white space",
        ),
        (
            " x",
            'agent name " x" must not contain line breaks or other control characters, nor begin '
            "or end with white space",
        ),
        ("x.toml", 'leave out ".toml": the file of the agent gets it by itself'),
        ("c", 'there is an agent "c" in this folder; choose another name'),
        ("C", 'there is an agent "c" in this folder; choose another name'),
        ("plan", '"plan" means a type of `Task` in "b"; choose another name'),
        ("mine", '"mine" means a type of `Task` in "b"; choose another name'),
    ],
)
def test_a_name_that_will_not_do_is_refused_with_a_reason(name: str, reason: str) -> None:
    fixture = """
        --- a.toml
        name = "a<|>"
        --- b.toml
        task.types = ["a"]
        task.type.mine.tools = []
        --- c.toml
    """
    check_refusal(fixture, name, reason)


def test_a_name_by_which_others_mean_another_agent_is_refused() -> None:
    fixture = """
        --- a.toml
        name = "a<|>"
        --- b.toml
        sub_agents = ["c"]
        --- user: c.toml
    """
    check_refusal(fixture, "c", '"c" means another agent in "b"; choose another name')


def test_a_name_by_which_callers_would_mean_another_agent_is_refused() -> None:
    fixture = """
        --- user: a.toml
        name = "a<|>"
        --- b.toml
        sub_agents = ["a"]
        --- c.toml
    """
    check_refusal(fixture, "c", '"c" means another agent in "b"; choose another name')


def test_a_name_of_another_folder_is_free_where_nobody_means_it() -> None:
    check_rename(
        '--- a.toml\nname = "a<|>"\n--- /project/sub/axe/agents: c.toml\n--- /project/sub/axe/agents: d.toml\nsub_agents = ["c"]\n',
        "c",
        '--- c.toml\nname = "c"\n--- /project/sub/axe/agents: c.toml\n--- /project/sub/axe/agents: d.toml\nsub_agents = ["c"]\n',
    )


def test_a_name_that_others_miss_is_free() -> None:
    check_rename(
        '--- a.toml\nname = "a<|>"\n--- b.toml\nsub_agents = ["c", "a"]\n',
        "c",
        '--- c.toml\nname = "c"\n--- b.toml\nsub_agents = ["c", "c"]\n',
    )


def test_nothing_is_renamed_before_all_files_are_known() -> None:
    opened = open_fixture('--- a.toml\nname = "a<|>"\n', complete=False)
    with pytest.raises(RenameError, match="still being read"):
        rename(opened.snapshot, opened.file, opened.offset, "b", lambda _: opened.text)


# -- what can be renamed


def shown(opened: Fixture) -> tuple[str, str] | None:
    found = renamable(opened.snapshot, opened.file, opened.offset)
    return (found.range.of(opened.text), found.name) if found is not None else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('sub_agents = ["b<|>"]', ("b", "b")),
        ("sub_agents = ['''b''', '<|>b']", ("b", "b")),
        ('sub_agents = ["""<|>b"""]', ("b", "b")),
        ('sub_agents = ["\\u0062<|>"]', ("\\u0062", "b")),
        ('na<|>me = "x"', ("x", "a")),
        ("name<|> = ", ("name", "a")),
        ("[task.type.x<|>]", ("x", "x")),
        ("[task.type.'x<|>']", ("x", "x")),
        ('description = "b<|>"', None),
        ("[task.types<|>]", None),
    ],
)
def test_what_is_offered_for_renaming(text: str, expected: tuple[str, str] | None) -> None:
    assert shown(open_fixture(f"--- a.toml\n{text}\n--- b.toml\n")) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            'sub_agents = ["gone<|>"]',
            'no agent file defines "gone", so there is nothing to rename; correct the name, or '
            "create the agent first",
        ),
        (
            'task.types = ["plan<|>"]',
            '"plan" is a built-in type, which has no other name',
        ),
    ],
)
def test_names_of_nothing_say_why_they_can_not_be_renamed(text: str, reason: str) -> None:
    with pytest.raises(RenameError) as caught:
        shown(open_fixture(text))
    assert str(caught.value) == reason
    check_refusal(text, "x", reason)


def test_other_texts_are_not_renamed() -> None:
    assert renamed('description = "<|>a"', "b") is None


# -- inline types


def test_an_inline_type_is_renamed_inside_its_file() -> None:
    check_rename(
        """
        --- a.toml
        sub_agents = ["x"]
        [task]
        types = ["x<|>", "plan"]
        [task.type.x]
        prompt = "x"
        [task.type."y"]
        --- x.toml
        --- b.toml
        task.types = ["x"]
        """,
        "a b",
        """
        --- a.toml
        sub_agents = ["x"]
        [task]
        types = ["a b", "plan"]
        [task.type."a b"]
        prompt = "x"
        [task.type."y"]
        --- x.toml
        --- b.toml
        task.types = ["x"]
        """,
    )


def test_the_key_of_an_inline_type_stays_bare_or_quoted() -> None:
    check_rename(
        "[task.type]\n'x<|>'.tools = []\nx.prompt = \"\"\n\"x\".description = ''\n",
        "y",
        "[task.type]\n'y'.tools = []\ny.prompt = \"\"\n\"y\".description = ''\n",
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (" ", "the name of a type must not be empty"),
        ("y", 'this file has a type "y" already; choose another name'),
        ("plan", 'this file has a type "plan" already; choose another name'),
    ],
)
def test_a_name_of_a_type_that_will_not_do_is_refused(name: str, reason: str) -> None:
    check_refusal("[task]\ntypes = ['plan']\ntype = { x<|> = {}, y = {} }\n", name, reason)


# -- files that the user moves


PARENT_AND_CHILD = '--- a.toml\nsub_agents = ["b"]\n--- b.toml\nname = "b"\nmodel = "x"\n'


def test_what_names_a_file_follows_its_move() -> None:
    assert moved(PARENT_AND_CHILD, f"{FOLDER}/b.toml", f"{USER_FOLDER}/c.toml") == {
        f"{FOLDER}/a.toml": 'sub_agents = ["c"]\n',
        f"{FOLDER}/b.toml": 'name = "c"\nmodel = "x"\n',
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"{FOLDER}/b.toml", f"{USER_FOLDER}/b.toml"),
        (f"{FOLDER}/b.toml", "file:///project/elsewhere/c.toml"),
        (f"{FOLDER}/b.toml", f"{FOLDER}/b.txt"),
        (f"{FOLDER}/none.toml", f"{FOLDER}/c.toml"),
        (FOLDER, "file:///project/other/axe/agents"),
    ],
    ids=["other folder", "out of the folders", "no agent any more", "unknown file", "a folder"],
)
def test_names_stay_where_a_move_changes_none(old: str, new: str) -> None:
    assert moved(PARENT_AND_CHILD, old, new) == texts_of(PARENT_AND_CHILD)


def test_a_file_that_calls_itself_otherwise_goes_on_to() -> None:
    fixture = PARENT_AND_CHILD.replace('name = "b"', 'name = "The B"')
    after = moved(fixture, f"{FOLDER}/b.toml", f"{FOLDER}/c.toml")
    assert after[f"{FOLDER}/b.toml"] == 'name = "The B"\nmodel = "x"\n'
    assert after[f"{FOLDER}/a.toml"] == 'sub_agents = ["c"]\n'


def test_a_move_to_a_name_that_means_something_else_is_told() -> None:
    fixture = '--- a.toml\ntask.types = ["b"]\n--- b.toml\n'
    with pytest.raises(RenameError, match='"plan" means a type of `Task` in "a"'):
        moved(fixture, f"{FOLDER}/b.toml", f"{FOLDER}/plan.toml")


# -- files that have changed on the disk since they were read


def test_a_closed_file_is_edited_as_it_lies_on_the_disk() -> None:
    fixture = '--- a.toml\nname = "a<|>"\n--- b.toml\nsub_agents = ["a"]\n'
    on_disk = {**texts_of(fixture), f"{FOLDER}/b.toml": "# new\nsub_agents = [\"b\", 'a']\n"}
    opened = open_fixture(fixture)
    edit = rename(opened.snapshot, opened.file, opened.offset, "c", on_disk.__getitem__)
    assert edit is not None
    assert edited(on_disk, edit) == {
        f"{FOLDER}/c.toml": 'name = "c"\n',
        f"{FOLDER}/b.toml": "# new\nsub_agents = [\"b\", 'c']\n",
    }


def test_a_closed_file_is_edited_as_it_lies_on_the_disk_if_nothing_is_wrong_with_it_either() -> (
    None
):
    caller = 'name = "b"\nmodel = "openai/gpt"\nsub_agents = ["a"]\nsystem_prompt = """\nAsk."""\n'
    fixture = f'--- a.toml\nname = "a<|>"\n--- b.toml\n{caller}'
    opened = open_fixture(fixture)
    for now in (
        caller,
        f"# new\n{caller}",
        caller.replace("Ask", "Do ask"),
        caller.replace('["', '[ "'),
    ):
        on_disk = {**texts_of(fixture), f"{FOLDER}/b.toml": now}
        edit = rename(opened.snapshot, opened.file, opened.offset, "c", on_disk.__getitem__)
        assert edit is not None
        assert edited(on_disk, edit)[f"{FOLDER}/b.toml"] == now.replace('"a"', '"c"')


def test_a_closed_file_that_has_gone_is_left_out() -> None:
    fixture = '--- a.toml\nname = "a<|>"\n--- b.toml\nsub_agents = ["a"]\n'
    on_disk = {**texts_of(fixture), f"{FOLDER}/b.toml": ""}
    opened = open_fixture(fixture)
    edit = rename(opened.snapshot, opened.file, opened.offset, "c", on_disk.__getitem__)
    assert edit is not None
    assert edited(on_disk, edit)[f"{FOLDER}/b.toml"] == ""


# -- agents that are named by a key, whatever their file is called

CODEX_FOLDER = "file:///project/.codex/agents"


def test_a_codex_agent_has_its_name_changed_and_its_file_left_where_it_is() -> None:
    fixture = '--- /project/.codex/agents: a.toml\nname = "<|>a"\ndescription = "Reads."\n'
    edit = renamed(fixture, "b")
    assert edit is not None
    assert edited(texts_of(fixture), edit) == {
        f"{CODEX_FOLDER}/a.toml": 'name = "b"\ndescription = "Reads."\n'
    }


def test_a_codex_agent_keeps_its_name_when_its_file_moves() -> None:
    fixture = '--- /project/.codex/agents: a.toml\nname = "a"\n'
    after = moved(fixture, f"{CODEX_FOLDER}/a.toml", f"{CODEX_FOLDER}/b.toml")
    assert after == {f"{CODEX_FOLDER}/a.toml": 'name = "a"\n'}


@pytest.mark.parametrize(
    ("moves", "listed"),
    [
        ({"a": "b", "b": "a"}, '["b", "a", "c"]'),
        ({"a": "b", "b": "c", "c": "d"}, '["b", "c", "d"]'),
        ({"b": "c", "c": "a", "a": "b"}, '["b", "c", "a"]'),
    ],
    ids=["swap", "chain", "ring"],
)
def test_files_that_move_at_the_same_time_rename_each_reference_once(
    moves: dict[str, str], listed: str
) -> None:
    fixture = """
        --- main.toml
        sub_agents = ["a", "b", "c"]
        --- a.toml
        name = "a"
        --- b.toml
        name = "b"
        --- c.toml
        name = "c"
    """
    opened, texts = open_fixture(fixture), texts_of(fixture)
    uris = {uri_of(f"{old}.toml"): uri_of(f"{new}.toml") for old, new in moves.items()}
    edit = tuple(
        step
        for old, new in uris.items()
        for step in follow_move(opened.snapshot, old, new, texts.__getitem__, moving=uris)
    )
    changed = edited(texts, edit)
    assert changed[uri_of("main.toml")] == f"sub_agents = {listed}\n"
    for old, new in moves.items():
        assert changed[uri_of(f"{old}.toml")] == f'name = "{new}"\n'


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("roles/r.toml", "other/s.toml"),
        ("/project/.codex/roles/r.toml", "/project/.codex/other/s.toml"),
    ],
)
def test_declared_role_that_moves_takes_its_config_file_along(written: str, expected: str) -> None:
    layer = "file:///project/.codex"
    role = 'name = "r"\ndescription = "d"\ndeveloper_instructions = "i"\n'
    texts = {
        f"{layer}/config.toml": f'[agents.r]\ndescription = "d"\nconfig_file = "{written}"\n',
        f"{layer}/roles/r.toml": role,
    }
    workspace = Workspace(PLACES)
    workspace.apply([Change(uri, text) for uri, text in texts.items()], complete=True)
    edit = follow_move(
        workspace.snapshot, f"{layer}/roles/r.toml", f"{layer}/other/s.toml", texts.__getitem__
    )
    changed = edited(texts, edit)
    assert f'config_file = "{expected}"' in changed[f"{layer}/config.toml"]
    assert changed[f"{layer}/roles/r.toml"] == role
