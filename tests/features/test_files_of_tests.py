"""Language features in files of tests, which name agents and recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import AgentDefinition, SubAgentsConfig, TaskConfig
from axe_lsp.agentfile.schema.tools import DELEGATION
from axe_lsp.features.code_lens import LensKind, code_lenses, count_of_tests
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.definition import definition
from axe_lsp.features.delegation_graph import delegation_graph
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.document_link import path_targets
from axe_lsp.features.edit import MovedFile, RenameError
from axe_lsp.features.fix import Case, Context
from axe_lsp.features.hover import hover
from axe_lsp.features.references import references
from axe_lsp.features.rename import follow_move, renamable, rename
from axe_lsp.features.rules import fixes_of
from axe_lsp.lsp.file_operations import same
from axe_lsp.runtime.children.delegation import call_agent_tool
from axe_lsp.runtime.children.side_run_definitions import SIDE_RUN_TOOLS
from axe_lsp.runtime.children.task import task_tools
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts, Found
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from support.edits import edited

ROOT = "file:///project"
LEAD, SCOUT = f"{ROOT}/axe/agents/lead.toml", f"{ROOT}/axe/agents/scout.toml"
TESTS = f"{ROOT}/axe/tests/lead.toml"
AGENTS = {
    LEAD: 'name = "lead"\nmodel = "ollama/m"\nsub_agents = ["scout"]\n',
    SCOUT: 'name = "scout"\nmodel = "ollama/m"\n',
}
CASE = """\
agent = "lead"

[[case]]
name = "looks"
task = "Look."

[[case.expect.children]]
agent = "scout"
status = "completed"

[[case.expect.judge]]
agent = "scout"
criteria = "Looks."
"""


def opened(text: str = CASE) -> tuple[Snapshot, AgentFile]:
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in AGENTS.items()]
    workspace.apply([*changes, Change(TESTS, text, in_buffer=True)], complete=True)
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    return workspace.snapshot, file


def found(text: str) -> list[tuple[str, str]]:
    snapshot, file = opened(text)
    return [(each.code, each.range.of(text)) for each in diagnostics(snapshot, file)]


def test_a_file_in_order_has_no_problems() -> None:
    assert found(CASE) == []


def test_a_called_agent_may_be_a_built_in_type_and_the_tested_one_may_not() -> None:
    assert found(CASE.replace('children]]\nagent = "scout"', 'children]]\nagent = "explore"')) == []
    assert found(CASE.replace('"lead"', '"explore"')) == [("unknown-agent", '"explore"')]


NESTED = """\
agent = "lead"

[[case]]
name = "looks"
task = "Look."

[[case.expect.children]]
agent = "scout"
children = [{ agent = "digger" }]
"""


def with_agents(text: str, **agents: str) -> list[tuple[str, str]]:
    """Return the findings in a file of tests, with agents besides `lead` and `scout`, or in their place."""
    files = {
        **AGENTS,
        **{
            f"{ROOT}/axe/agents/{name}.toml": f'name = "{name}"\nmodel = "ollama/m"\n{more}'
            for name, more in agents.items()
        },
    }
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in files.items()]
    workspace.apply([*changes, Change(TESTS, text)], complete=True)
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    return [(each.code, each.range.of(text)) for each in diagnostics(workspace.snapshot, file)]


NOT_CALLED = [("unknown-child", '"digger"')]


@pytest.mark.parametrize("text", ["# nothing yet\n", "", 'agent = " "\n'])
def test_file_of_tests_without_an_agent_has_one_error(text: str) -> None:
    (finding,) = diagnostics(*opened(text))
    assert finding.code == "missing-key"
    assert finding.message.startswith("the file needs ")


@pytest.mark.parametrize(
    ("scout", "text", "problems"),
    [
        ("", NESTED, NOT_CALLED),
        ('sub_agents = ["lead"]\n', NESTED, NOT_CALLED),
        ('sub_agents = ["digger"]\n', NESTED, []),
        ('tools = ["Task"]\n[task]\ntypes = ["digger"]\n', NESTED, []),
        ("[task.type.digger]\n", NESTED, []),
        ("", NESTED.replace('"digger"', '"plan"'), []),
        ("", NESTED.replace('"digger"', '"digger", times = 0'), []),
        ("", NESTED.replace('"digger"', '"digger", times = 1'), NOT_CALLED),
        ("", NESTED.replace('agent = "scout"', 'agent = "scout"\ntimes = 0'), []),
        (
            "",
            NESTED.replace('agent = "scout"', 'agent = "digger"').replace("[{", "[#\n{"),
            [*NOT_CALLED, *NOT_CALLED],
        ),
    ],
)
def test_an_expected_child_is_one_that_its_caller_can_call(
    scout: str, text: str, problems: list[tuple[str, str]]
) -> None:
    assert with_agents(text, scout=scout, digger="") == problems


def test_the_fix_of_an_unknown_child_names_the_one_that_was_meant() -> None:
    text = CASE.replace('children]]\nagent = "scout"', 'children]]\nagent = "scouts"')
    workspace = Workspace(Places(roots=(ROOT,)))
    agents = {**AGENTS, f"{ROOT}/axe/agents/scouts.toml": 'name = "scouts"\nmodel = "ollama/m"\n'}
    changes = [Change(uri, each) for uri, each in agents.items()]
    workspace.apply([*changes, Change(TESTS, text, in_buffer=True)], complete=True)
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    (finding,) = diagnostics(workspace.snapshot, file)
    assert finding.message.endswith('Did you mean "scout"?')
    assert file.open is not None
    context = Context(workspace.snapshot, lambda _: (), lambda _: text)
    (fix,) = fixes_of(Case(context, file, file.open, finding))
    assert edited({TESTS: text}, fix.edit)[TESTS] == CASE


def test_an_edit_of_an_agent_checks_its_tests_again() -> None:
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in AGENTS.items()]
    workspace.apply([*changes, Change(TESTS, CASE)], complete=True)
    update = workspace.apply([Change(LEAD, AGENTS[LEAD].replace('"scout"', ""), in_buffer=True)])
    assert TESTS in update.affected
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    assert [each.code for each in diagnostics(workspace.snapshot, file)] == ["unknown-child"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('agent = "lead"', 'agent = "laed"', ("unknown-agent", '"laed"')),
        ('children]]\nagent = "scout"', 'children]]\nagent = "gone"', ("unknown-agent", '"gone"')),
        ("task = ", "taks = ", ("unknown-key", "taks")),
        ('"completed"', '"complete"', ("out-of-range", '"complete"')),
        ('"Look."', "3", ("wrong-type", "3")),
        ('criteria = "Looks."\n', "", ("missing-key", "judge")),
        ('status = "completed"', 'answer = { matches = "(" }', ("bad-test", '"("')),
        (
            'status = "completed"',
            'tools = [{ calls = [{ name = "read_fiel" }] }]',
            ("bad-test", '"read_fiel"'),
        ),
        (
            'status = "completed"',
            'tools = [{ calls = [{ name = "a/b", args = { path = { matches = 3 } } }] }]',
            ("wrong-type", "3"),
        ),
        (
            'status = "completed"',
            'tools = [{ calls = [{ name = "a/b", args = { path = { lacks = ["x", 1] } } }] }]',
            ("wrong-type", '["x", 1]'),
        ),
        (
            'status = "completed"',
            'status = "completed"\n[case.expect.files."a.md"]\ncontains = true',
            ("wrong-type", "true"),
        ),
        ('status = "completed"', 'status = ""', ("out-of-range", '""')),
        (
            'status = "completed"',
            'answer = { schema = { type = "objekt" } }',
            ("bad-schema", '"objekt"'),
        ),
    ],
)
def test_a_mistake_has_its_place(old: str, new: str, problem: tuple[str, str]) -> None:
    assert CASE.count(old) == 1
    assert found(CASE.replace(old, new)) == [problem]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ('agent = "|"', "scout"),
        ('agent = "lead"\n[[case.expect.children]]\nagent = "|"', "scout"),
        ('[[case.expect.tools]]\nmatch = "|"', "superset"),
        ('[case.expect]\nstatus = "|"', "killed"),
        ("[[case]]\n|", "task"),
        ("[[case.expect.children.children]]\n|", "times"),
    ],
)
def test_keys_words_and_agents_are_completed(marked: str, expected: str) -> None:
    snapshot, file = opened(marked.replace("|", ""))
    labels = [each.label for each in completion(snapshot, file, marked.index("|"))]
    assert expected in labels


def test_hover_describes_keys_and_agents() -> None:
    snapshot, file = opened()
    key = hover(snapshot, file, CASE.index("criteria"))
    agent = hover(snapshot, file, CASE.index('"lead"') + 2)
    assert key is not None
    assert agent is not None
    assert "The criteria that it judges by." in key.markdown
    assert "agent of this workspace" in agent.markdown


def test_a_name_leads_to_its_agent_and_counts_as_a_reference() -> None:
    snapshot, file = opened()
    target = definition(snapshot, file, CASE.index('"scout"') + 1)
    assert target is not None
    assert target.uri == SCOUT
    there = references(snapshot, file, CASE.index('"scout"') + 1, include_declaration=False)
    assert [each.uri for each in there] == [LEAD, TESTS, TESTS]


def test_a_rename_of_an_agent_reaches_its_tests() -> None:
    snapshot, file = opened()
    texts = {**AGENTS, TESTS: CASE}
    edit = rename(snapshot, file, CASE.index('"scout"') + 1, "finder", texts.__getitem__)
    assert edit is not None
    after = edited(texts, edit)
    assert after[TESTS] == CASE.replace("scout", "finder")
    assert '"finder"' in after[LEAD]
    assert after[f"{ROOT}/axe/agents/finder.toml"].startswith('name = "finder"')


def test_tests_are_no_agents() -> None:
    snapshot, _ = opened()
    assert snapshot.names == {"lead": (LEAD,), "scout": (SCOUT,)}
    assert [each.name for each in delegation_graph(snapshot).nodes] == ["lead", "scout"]


def test_a_project_within_another_means_its_own_agents() -> None:
    inner = f"{ROOT}/part"
    other = f"{inner}/axe/agents/lead.toml"
    tests = f"{inner}/axe/tests/t.toml"
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(LEAD, AGENTS[LEAD]), Change(other, AGENTS[SCOUT])]
    workspace.apply([*changes, Change(tests, CASE, in_buffer=True)], complete=True)
    file = workspace.snapshot.file(tests)
    assert file is not None
    target = definition(workspace.snapshot, file, CASE.index('"lead"') + 1)
    assert target is not None
    assert target.uri == other


def test_a_recording_is_linked_or_missing() -> None:
    text = CASE.replace("task =", 'replay = "a.toml"\ntask =') + '\n[[case]]\nname = "new"\n'
    workspace = Workspace(Places(roots=(ROOT,)))
    file = workspace.apply([Change(TESTS, text, in_buffer=True)]).snapshot.file(TESTS)
    assert file is not None
    there = Found(f"{ROOT}/axe/tests/recordings/a.toml", "a.toml", exists=True)
    paths = {
        "recordings/a.toml": there,
        "recordings/lead/new.toml": Found("", "…/lead/new.toml", exists=False),
    }
    snapshot = workspace.apply([], facts={TESTS: Facts(file.question, paths=paths)}).snapshot
    links = path_targets(snapshot, file, text.index('"a.toml"') + 1)
    assert [each.uri for each in links] == [there.uri]
    (missing,) = diagnostics(snapshot, file)
    assert (missing.code, missing.range.of(text)) == ("missing-file", '"new"')
    assert "`axe-lsp test --record` makes it" in missing.message


def test_a_stale_recording_is_reported_where_it_is_named() -> None:
    workspace = Workspace(Places(roots=(ROOT,)))
    file = workspace.apply([Change(LEAD, AGENTS[LEAD]), Change(TESTS, CASE, in_buffer=True)])
    asked = file.snapshot.buffers[TESTS].question
    assert (asked.tested, asked.paths) == ("lead", ("recordings/lead/looks.toml",))
    facts = Facts(asked, stale={"recordings/lead/looks.toml": "the reason"})
    update = workspace.apply([Change(SCOUT, AGENTS[SCOUT])], complete=True, facts={TESTS: facts})
    (stale,) = diagnostics(update.snapshot, update.snapshot.buffers[TESTS])
    assert (stale.code, stale.range.of(CASE)) == ("stale-recording", '"looks"')
    assert "the recording is stale: the reason." in stale.message
    # Nothing is known of the recordings of another agent before somebody has looked.
    update = workspace.apply([Change(TESTS, CASE.replace('"lead"', '"scout"'), in_buffer=True)])
    codes = [each.code for each in diagnostics(update.snapshot, update.snapshot.buffers[TESTS])]
    assert "stale-recording" not in codes


TYPED = {
    **AGENTS,
    f"{ROOT}/axe/agents/grader.toml": 'name = "grader"\nmodel = "ollama/m"\n'
    '[input.properties]\ntext = { type = "string", description = "What is graded." }\n',
}
WORDS = ["equals", "contains", "lacks", "matches", "schema", "any"]


@pytest.mark.parametrize(
    ("call", "labels"),
    [
        ('calls = [{ name = "grep", args = { <|> } }]', ["pattern", "path", "glob", "ignore_case"]),
        (
            'calls = [{ name = "grep", args = { path = "x", p<|> } }]',
            ["pattern", "glob", "ignore_case"],
        ),
        ('calls = [{ name = "Read", args = { <|> } }]', ["path", "offset", "limit"]),
        ('calls = [{ args = { <|> }, name = "grader" }]', ["text"]),
        ('calls = [{ name = "grep" }, { name = "grader", args = { <|>', ["text"]),
        ('calls = [{ name = "grader", args = { text = { <|> } } }]', WORDS),
        ('calls = [{ name = "grader", args = { text = { any = true, <|> } } }]', WORDS[:-1]),
        ('calls = [{ name = "issues/list", args = { <|> } }]', []),
        (
            '[[case.expect.tools.calls]]\nname = "grader"\n[case.expect.tools.calls.args]\n<|>',
            ["text"],
        ),
        ('[[case.expect.tools.calls]]\nname = "grader"\nargs.<|>', ["text"]),
    ],
)
def test_arguments_of_expected_calls_are_offered(call: str, labels: list[str]) -> None:
    head = 'agent = "lead"\n[[case]]\nname = "looks"\n[[case.expect.tools]]\n'
    text = head + call.replace("<|>", "")
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in TYPED.items()]
    workspace.apply([*changes, Change(TESTS, text, in_buffer=True)], complete=True)
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    found = completion(workspace.snapshot, file, len(head) + call.index("<|>"))
    assert [each.label for each in found if not each.label.startswith("[")] == labels


def test_rows_of_delegation_tools_name_their_arguments() -> None:
    optional = SubAgentsConfig(background="optional")
    task = AgentDefinition("a", model="m", task=TaskConfig(), sub_agents_config=optional)

    def load(_name: str, _caller: object = None) -> AgentDefinition:
        return task

    (tool,) = (each for each in task_tools(task, 0, 3, load) if each.name == "Task")
    called = {"call_agent": call_agent_tool(["x"], has_choice=True), "Task": tool}
    called.update((each.name, each) for each in SIDE_RUN_TOOLS)
    arguments = {row.name: row.arguments for row in DELEGATION}
    assert {name: tuple(each.parameters) for name, each in called.items()} == arguments


EXPECTED = """
agent = "lead"
[[case]]
name = "looks"
[[case.expect.tools]]
calls = [{ name = "grep" }]
[[case.expect.children]]
agent = "scout"
[[case.expect.children.tools]]
calls = [{ name = "read_file" }]
"""
LISTED = 'tools = ["grep"]\nsub_agents = ["scout"]\n'


@pytest.mark.parametrize(
    ("lead", "scout", "text", "reported"),
    [
        (LISTED, 'tools = ["read_file"]\n', EXPECTED, []),
        (LISTED, "", EXPECTED, ['"read_file"']),
        ('sub_agents = ["scout"]\n', 'tools = ["read_file"]\n', EXPECTED, ['"grep"']),
        (LISTED, 'tools = ["*"]\n', EXPECTED, []),
        (LISTED, 'tools = ["*"]\n[tool_policy]\ndeny = ["read*"]\n', EXPECTED, ['"read_file"']),
        (LISTED, "", EXPECTED.replace('"read_file"', '"read_file", error = true'), []),
        (
            LISTED,
            "",
            EXPECTED.replace('calls = [{ name = "r', 'match = "superset"\ncalls = [{ name = "r'),
            [],
        ),
        (LISTED, "", EXPECTED.replace('"read_file"', '"list_issues"'), ['"list_issues"']),
        (LISTED, "", EXPECTED.replace('"read_file"', '"list_*"'), []),
        (LISTED, "", EXPECTED.replace('"read_file"', '"Bash"'), ['"Bash"']),
        (
            LISTED,
            '[[mcp_servers]]\nname = "i"\nurl = "http://localhost:1"\ntransport = "sse"\n',
            EXPECTED.replace('"read_file"', '"list_issues"'),
            [],
        ),
        (
            LISTED,
            "",
            EXPECTED.replace('"grep"', '"call_agent"').replace('"read_file"', '"Task"'),
            ['"Task"'],
        ),
        (LISTED, "[task]\n", EXPECTED.replace('"read_file"', '"Task"'), []),
        (LISTED, "[task]\n", EXPECTED.replace('"read_file"', '"wait_agents"'), ['"wait_agents"']),
        (
            LISTED,
            '[task]\n[sub_agents_config]\nbackground = "optional"\n',
            EXPECTED.replace('"read_file"', '"wait_agents"'),
            [],
        ),
        (LISTED, 'sub_agents = ["lead"]\n', EXPECTED.replace('"read_file"', '"lead"'), []),
    ],
)
def test_an_expected_call_is_of_a_tool_that_the_agent_has(
    lead: str, scout: str, text: str, reported: list[str]
) -> None:
    assert with_agents(text, lead=lead, scout=scout) == [
        ("unknown-call", each) for each in reported
    ]


def test_an_edit_of_the_tools_of_an_agent_checks_its_tests_again() -> None:
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in AGENTS.items()]
    workspace.apply([*changes, Change(TESTS, CASE)], complete=True)
    update = workspace.apply([Change(LEAD, f'{AGENTS[LEAD]}tools = ["grep"]\n', in_buffer=True)])
    assert TESTS in update.affected


def test_an_agent_tells_how_many_tests_it_has_and_how_many_are_stale() -> None:
    workspace = Workspace(Places(roots=(ROOT,)))
    more = CASE + '[[case]]\nname = "two"\n'
    texts = {**AGENTS, TESTS: more, f"{ROOT}/axe/tests/more.toml": CASE}
    changes = [Change(uri, each, in_buffer=uri == LEAD) for uri, each in texts.items()]
    workspace.apply(changes, complete=True)

    def told(uri: str) -> str:
        agent = workspace.snapshot.file(uri)
        assert agent is not None
        kinds = [each.kind for each in code_lenses(workspace.snapshot, agent)]
        count = count_of_tests(workspace.snapshot, agent)
        assert (LensKind.TESTS in kinds) is bool(count.cases)
        return str(count)

    assert (told(LEAD), told(SCOUT)) == ("3 tests", "0 tests")
    tests = workspace.snapshot.file(TESTS)
    assert tests is not None
    stale = {tests.outside.paths[0].value: "the prompt is another one"}
    workspace.apply([], facts={TESTS: Facts(tests.question, stale=stale)})
    assert told(LEAD) == "3 tests, 1 stale"


def test_an_agent_that_is_an_argument_of_an_expected_call_is_a_reference() -> None:
    text = (
        'agent = "lead"\n[[case]]\nname = "a"\ntask = "x"\n[[case.expect.tools]]\ncalls = [\n'
        '  { name = "call_agent", args = { agent = "scout" } },\n'
        '  { name = "call_agent", args = { agent = { equals = "gone" } } },\n'
        '  { name = "call_agent", args = { agent = { matches = "s.*" }, task = "gone" } },\n'
        '  { name = "read_file", args = { agent = "gone" } },\n'
        "]\n"
    )
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in AGENTS.items()]
    workspace.apply([*changes, Change(TESTS, text)], complete=True)
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    assert [each.name for each in file.references] == ["lead", "scout", "gone"]
    assert [each.range.of(text) for each in file.references] == ['"lead"', '"scout"', '"gone"']


RECORDED = {
    TESTS: """\
agent = "lead"

[[case]]
name = "looks" # often
task = "Look."

[[case]]
name = "asks"
replay = "shared/asks.toml"
""",
    f"{ROOT}/axe/tests/scout.toml": """\
agent = "scout"

[[case]]
name = "one"
replay = "shared/asks.toml"

[[case]]
name = "two"
replay = '../recordings/lead/looks.toml'
""",
}
RECORDINGS_OF = f"{ROOT}/axe/tests/recordings"


def recorded(*paths: str) -> tuple[Snapshot, AgentFile]:
    """Return the files of tests, of which the first is open, and the recordings that are there."""
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in {**AGENTS, **RECORDED}.items()]
    workspace.apply([*changes, Change(TESTS, RECORDED[TESTS], in_buffer=True)], complete=True)
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    found = {
        path: Found(f"{ROOT}/axe/tests/{path}", path, exists=path in paths)
        for path in ("recordings/lead/looks.toml", "recordings/shared/asks.toml")
    }
    snapshot = workspace.apply([], facts={TESTS: Facts(file.question, paths=found)}).snapshot
    return snapshot, file


def renamed(at: str, new: str, *paths: str) -> dict[str, str]:
    snapshot, file = recorded(*paths)
    offset = RECORDED[TESTS].index(at) + 1
    what = renamable(snapshot, file, offset)
    assert what is not None
    assert what.range.of(RECORDED[TESTS]) == what.name == at.strip('"')
    texts = {**RECORDED, **{f"{ROOT}/axe/tests/{path}": path for path in paths}}
    edit = rename(snapshot, file, offset, new, texts.__getitem__)
    assert edit is not None
    return edited(texts, edit)


def test_a_rename_of_a_case_moves_its_recording_and_reaches_all_who_have_it() -> None:
    after = renamed('"looks"', "looks well", "recordings/lead/looks.toml")
    assert after[TESTS] == RECORDED[TESTS].replace('"looks"', '"looks well"')
    assert "replay = 'lead/looks-well.toml'" in after[f"{ROOT}/axe/tests/scout.toml"]
    assert after[f"{RECORDINGS_OF}/lead/looks-well.toml"] == "recordings/lead/looks.toml"
    assert f"{RECORDINGS_OF}/lead/looks.toml" not in after
    assert renamed('"asks"', "wants")[TESTS] == RECORDED[TESTS].replace('"asks"', '"wants"')


def test_a_rename_puts_no_recording_in_place_of_another_file() -> None:
    snapshot, file = recorded("recordings/lead/looks.toml")
    there = {f"{RECORDINGS_OF}/lead/sees.toml", f"{RECORDINGS_OF}/boss/looks.toml"}
    offset = RECORDED[TESTS].index('"looks"') + 1
    with pytest.raises(RenameError, match=r'a file "recordings/lead/sees\.toml" already'):
        rename(snapshot, file, offset, "sees", RECORDED.__getitem__, exists=there.__contains__)
    there.add(f"{RECORDINGS_OF}/lead/looks.toml")
    new = f"{ROOT}/axe/tests/boss.toml"
    with pytest.raises(RenameError, match=r'a file "recordings/boss/looks\.toml" already'):
        follow_move(snapshot, TESTS, new, RECORDED.__getitem__, there.__contains__)


def test_a_rename_may_change_case_alone_on_a_disk_that_ignores_case() -> None:
    snapshot, file = recorded("recordings/lead/looks.toml")
    there = {f"{RECORDINGS_OF}/lead/looks.toml"}
    offset = RECORDED[TESTS].index('"looks"') + 1

    def exists(uri: str) -> bool:
        return uri.casefold() in there

    def is_same(uri: str, other: str) -> bool:
        return uri.casefold() == other.casefold()

    texts = RECORDED.__getitem__
    edit = rename(snapshot, file, offset, "Looks", texts, exists=exists, same=is_same)
    assert edit is not None
    assert edit[-1] == MovedFile(
        f"{RECORDINGS_OF}/lead/looks.toml", f"{RECORDINGS_OF}/lead/Looks.toml"
    )
    edit = follow_move(snapshot, TESTS, f"{ROOT}/axe/tests/Lead.toml", texts, exists, same=is_same)
    assert edit[-1] == MovedFile(
        f"{RECORDINGS_OF}/lead/looks.toml", f"{RECORDINGS_OF}/Lead/looks.toml"
    )
    with pytest.raises(RenameError, match=r'a file "recordings/lead/Looks\.toml" already'):
        rename(snapshot, file, offset, "Looks", texts, exists=exists)


def test_two_names_that_differ_in_case_are_one_file_if_the_disk_says_so(tmp_path: Path) -> None:
    small, great, third = (tmp_path / name for name in ("looks.toml", "Looks.toml", "seen.toml"))
    small.touch()
    assert not same(small.as_uri(), third.as_uri())
    if not great.exists():  # The disk tells them apart.
        assert not same(small.as_uri(), great.as_uri())
        great.touch()
        assert not same(small.as_uri(), great.as_uri())
        great.unlink()
        great.symlink_to(small)
        assert not same(great.as_uri(), small.as_uri()), "a move would replace what it leads to"
        great.unlink()
        great.hardlink_to(small)
    assert same(small.as_uri(), great.as_uri())
    third.hardlink_to(small)
    assert not same(small.as_uri(), third.as_uri()), "a move would put an end to the other name"


def test_a_recording_in_an_inner_folder_of_recordings_is_followed() -> None:
    text = RECORDED[TESTS].replace("shared/asks.toml", "recordings/asks.toml")
    workspace = Workspace(Places(roots=(ROOT,)))
    workspace.apply([Change(TESTS, text)], complete=True)
    old, new = (f"{RECORDINGS_OF}/recordings/{name}.toml" for name in ("asks", "wants"))
    after = edited(
        {TESTS: text}, follow_move(workspace.snapshot, old, new, {TESTS: text}.__getitem__)
    )
    assert 'replay = "recordings/wants.toml"' in after[TESTS]


def test_a_rename_of_a_recording_moves_it_and_reaches_all_who_name_it() -> None:
    after = renamed('"shared/asks.toml"', "asks.toml", "recordings/shared/asks.toml")
    assert after[TESTS] == RECORDED[TESTS].replace("shared/asks", "asks")
    assert 'name = "one"\nreplay = "asks.toml"\n' in after[f"{ROOT}/axe/tests/scout.toml"]
    assert after[f"{RECORDINGS_OF}/asks.toml"] == "recordings/shared/asks.toml"


def test_a_recording_may_leave_the_folder_of_recordings() -> None:
    after = renamed('"shared/asks.toml"', "../../kept/asks.toml", "recordings/shared/asks.toml")
    assert 'name = "asks"\nreplay = "../../kept/asks.toml"\n' in after[TESTS]
    assert (
        'name = "one"\nreplay = "../../kept/asks.toml"\n' in after[f"{ROOT}/axe/tests/scout.toml"]
    )
    assert after[f"{ROOT}/axe/kept/asks.toml"] == "recordings/shared/asks.toml"


@pytest.mark.parametrize(
    ("at", "new", "reason"),
    [
        ('"looks"', "asks", 'another case of this file is named "asks"'),
        ('"looks"', " ", "a name must not be blank"),
        ('"shared/asks.toml"', "asks", "a recording is a .toml file"),
        ('"shared/asks.toml"', "/tmp/asks.toml", "a recording is a .toml file"),
        ('"shared/asks.toml"', "lead/looks.toml", "another case has the recording"),
    ],
)
def test_a_rename_that_two_cases_would_not_survive_is_refused(
    at: str, new: str, reason: str
) -> None:
    with pytest.raises(RenameError, match=reason):
        renamed(at, new)


def test_a_recording_that_is_moved_is_named_anew_by_its_cases() -> None:
    snapshot, _ = recorded()
    old, new = (f"{RECORDINGS_OF}/lead/{each}.toml" for each in ("looks", "new%20one"))
    after = edited(RECORDED, follow_move(snapshot, old, new, RECORDED.__getitem__))
    assert 'name = "looks" # often\nreplay = "lead/new one.toml"\ntask' in after[TESTS]
    assert "replay = 'lead/new one.toml'" in after[f"{ROOT}/axe/tests/scout.toml"]
    elsewhere = f"{ROOT}/axe/other.toml"
    assert follow_move(snapshot, old, elsewhere, RECORDED.__getitem__) == ()


def test_a_recording_is_named_on_a_line_that_ends_as_the_others_do() -> None:
    texts = {TESTS: 'agent = "lead"\r\n[[case]]\r\nname = "looks"\r\ntask = "Look."\r\n'}
    workspace = Workspace(Places(roots=(ROOT,)))
    workspace.apply([Change(TESTS, texts[TESTS])], complete=True)
    old, new = (f"{RECORDINGS_OF}/{each}.toml" for each in ("lead/looks", "new"))
    after = edited(texts, follow_move(workspace.snapshot, old, new, texts.__getitem__))
    assert '"looks"\r\nreplay = "new.toml"\r\ntask' in after[TESTS]


def test_a_recording_that_no_case_has_moves_without_a_word() -> None:
    """Some editors report the moves of a rename as well, when its changes of texts are done."""
    snapshot, _ = recorded()
    old, new = (f"{RECORDINGS_OF}/lead/{each}.toml" for each in ("looked", "looks"))
    assert follow_move(snapshot, old, new, RECORDED.__getitem__) == ()


def test_a_file_of_tests_that_is_renamed_takes_its_recordings_along() -> None:
    snapshot, _ = recorded()
    new = f"{ROOT}/axe/tests/boss.toml"
    there = {f"{RECORDINGS_OF}/lead/looks.toml", f"{RECORDINGS_OF}/shared/asks.toml"}
    edit = follow_move(snapshot, TESTS, new, RECORDED.__getitem__, there.__contains__)
    assert edit[-1] == MovedFile(
        f"{RECORDINGS_OF}/lead/looks.toml", f"{RECORDINGS_OF}/boss/looks.toml"
    )
    after = edited(RECORDED, edit[:-1])
    assert after[TESTS] == RECORDED[TESTS]
    assert "name = \"two\"\nreplay = 'boss/looks.toml'\n" in after[f"{ROOT}/axe/tests/scout.toml"]
    assert follow_move(snapshot, TESTS, new, RECORDED.__getitem__, set().__contains__) == ()


def test_an_input_is_used_if_tests_name_the_agent() -> None:
    texts = {**AGENTS, SCOUT: f"{AGENTS[SCOUT]}[input.properties]\ntask = {{ type = 'string' }}\n"}
    texts[LEAD] = AGENTS[LEAD].replace('sub_agents = ["scout"]\n', "")
    workspace = Workspace(Places(roots=(ROOT,)))
    workspace.apply([Change(uri, each) for uri, each in texts.items()], complete=True)

    def codes() -> list[str]:
        file = workspace.snapshot.file(SCOUT)
        assert file is not None
        return [each.code for each in diagnostics(workspace.snapshot, file)]

    assert codes() == ["unused-config"]
    judged = 'agent = "lead"\n[[case]]\nname = "a"\n[[case.expect.judge]]\nagent = "scout"\ncriteria = "c"\n'
    assert SCOUT in workspace.apply([Change(TESTS, judged)]).affected
    assert codes() == []


@pytest.mark.parametrize(
    ("marked", "labels"),
    [
        ("[case.expect]\nanswer = { equals = { <|> } }", ["ok", "reason"]),
        ("[case.expect]\nanswer = { equals = { ok = true, <|> } }", ["reason"]),
        ("[case.expect.answer.equals]\n<|>", ["ok", "reason"]),
        ('[[case.expect.children]]\nagent = "grader"\nanswer = { equals = { <|> } }', ["grade"]),
        (
            '[[case.expect.children]]\nagent = "grader"\n[[case]]\nname = "more"\n'
            "[[case.expect.children]]\nanswer = { equals = { <|> } }",
            [],
        ),
        (
            '[[case.expect.children]]\nagent = "grader"\n'
            "[[case.expect.children]]\nanswer = { equals = { <|> } }",
            [],
        ),
        ("[case.input]\n<|>", ["question"]),
        ("input = { <|> }", ["question"]),
        ('[[case.expect.children]]\nagent = "<|>"', ["grader", "alone", "lead"]),
        (
            '[[case.expect.tools]]\ncalls = [{ name = "<|>" }]',
            ["read_file", "call_agent", "grader"],
        ),
        (
            '[[case.expect.children]]\nagent = "grader"\ntools = [{ calls = [{ name = "<|>" }] }]',
            [],
        ),
    ],
)
def test_what_the_agent_has_is_offered_to_be_expected(marked: str, labels: list[str]) -> None:
    texts = {
        LEAD: 'name = "lead"\nmodel = "ollama/m"\ntools = ["read_file"]\nsub_agents = ["grader"]\n'
        "[input.properties]\nquestion = {}\n[output.properties]\nok = {}\nreason = {}\n",
        f"{ROOT}/axe/agents/grader.toml": 'name = "grader"\nmodel = "ollama/m"\n'
        "[input.properties]\ntext = {}\n[output.properties]\ngrade = {}\n",
        f"{ROOT}/axe/agents/alone.toml": 'name = "alone"\nmodel = "ollama/m"\n',
    }
    head = 'agent = "lead"\n[[case]]\nname = "looks"\n'
    text = head + marked.replace("<|>", "")
    workspace = Workspace(Places(roots=(ROOT,)))
    changes = [Change(uri, each) for uri, each in texts.items()]
    workspace.apply([*changes, Change(TESTS, text, in_buffer=True)], complete=True)
    file = workspace.snapshot.file(TESTS)
    assert file is not None
    found = completion(workspace.snapshot, file, len(head) + marked.index("<|>"))
    assert [each.label for each in found if not each.label.startswith("[")] == labels


def test_any_tool_is_offered_to_be_forbidden() -> None:
    head = 'agent = "lead"\n[[case]]\nname = "looks"\n[case.expect]\nforbidden = ["'
    snapshot, file = opened(f'{head}"]\n')
    labels = [each.label for each in completion(snapshot, file, len(head))]
    assert {"write_file", "run_command", "call_agent"} <= {*labels}
