"""Each kind of expectation passes where it is met, and where it is not, that one failure is found and no other."""

from __future__ import annotations

import pytest

from support.agent_tests import HEAD, Project

MET = """
[case.expect]
answer = { contains = ["212"], lacks = "sorry", matches = "(?i)OK", equals = { ok = true, passed = 212 }, schema = { type = "object", required = ["ok"] } }
status = "completed"
turns = { max = 3, min = 3, equals = 3 }
tool_calls = { equals = 3 }
tokens = { max = 420, min = 420 }
cost = { min = 0.00134, max = 0.00136 }
files = { "CHANGELOG.md" = { contains = ["1.2"], lacks = ["1.1"] }, "src/a.py" = true, "secret" = false }
forbidden = ["Bash", "issues/*", { name = "read_file", args = { path = { contains = "secret" } } }]

[[case.expect.tools]]
calls = [{ name = "read_file", args = { path = { matches = "\\\\.py$" } }, error = false }, { name = "write_file" }]

[[case.expect.tools]]
match = "exact"
calls = [{ name = "read_file" }, { name = "call_agent", args = { agent = "tests" } }, { name = "write_file" }]

[[case.expect.tools]]
match = "unordered"
calls = [{ name = "write_file" }, { name = "*_file" }, { name = "call_agent" }]

[[case.expect.tools]]
match = "subset"
calls = [{ name = "write_file", args = { path = "CHANGELOG.md", content = { any = true } } }]

[[case.expect.tools]]
match = "superset"
calls = [{ name = "*_file", times = 2 }, { name = "call_agent" }, { name = "run_command" }]

[[case.expect.children]]
agent = "tests"
times = 1
task = { contains = "fast" }
answer = { contains = "212" }
status = "completed"
turns = { max = 2 }

[[case.expect.children.tools]]
calls = [{ name = "read_file", args = { path = "gone.py" }, error = true }]

[[case.expect.children]]
agent = "docs"
times = 0
"""


@pytest.fixture(autouse=True)
def _models_with_prices(project: Project) -> None:
    """$2.50 for a million input tokens, $10 for output; the lead uses 300 and 30, its child 80 and 10."""
    for path in ("axe/agents/lead.toml", "axe/tests/recordings/asks.toml"):
        project.edit(path, "openai/m-lead", "openai/gpt-4o")
    project.edit("axe/agents/tests.toml", "openai/m-tests", "openai/gpt-4o")


async def test_all_of_them_are_met_at_once(project: Project) -> None:
    (outcome,) = await project.outcomes(project.case(MET))
    assert [each.message for each in outcome.failures] == []
    assert outcome.verdict == "passed"


UNMET = [
    ('contains = ["212"]', 'contains = ["212", "213"]', 'answer lacks "213"'),
    ('lacks = "sorry"', 'lacks = "passed"', 'answer contains "passed"'),
    ('matches = "(?i)OK"', 'matches = "^OK"', 'answer does not match "^OK"'),
    ("equals = { ok = true, passed = 212 }", "equals = { ok = true, passed = 211 }", "answer is "),
    ('required = ["ok"]', 'required = ["no"]', "answer does not fit the schema"),
    (
        'status = "completed"\nturns = { max = 3,',
        'status = "failed"\nturns = { max = 3,',
        'status is "completed"',
    ),
    (
        'status = "completed"\nturns = { max = 3,',
        'error = "boom"\nturns = { max = 3,',
        'error lacks "boom"',
    ),
    ("max = 3, min", "max = 2, min", "turns is 3, more than 2"),
    ("min = 3, equals", "min = 4, equals", "turns is 3, less than 4"),
    ("equals = 3 }\ntool", "equals = 2 }\ntool", "turns is 3, not 2"),
    ("tool_calls = { equals = 3 }", "tool_calls = { equals = 4 }", "tool_calls is 3, not 4"),
    ("max = 420", "max = 419", "tokens is 420, more than 419"),
    ("min = 0.00134", "min = 0.01", "lead: cost is 0.00135, less than 0.01"),
    ("max = 0.00136", "max = 0.001", "lead: cost is 0.00135, more than 0.001"),
    ('contains = ["1.2"]', 'contains = ["1.3"]', 'file "CHANGELOG.md" lacks "1.3"'),
    ('"src/a.py" = true', '"src/b.py" = true', 'file "src/b.py" is not there'),
    ('"secret" = false', '"src" = false', 'file "src" is there'),
    (
        '"Bash", "issues/*"',
        '{ name = "Write", args = { path = "CHANGELOG.md" } }',
        '"lead" called "write_file"',
    ),
    ('contains = "secret" }', 'contains = "gone" }', '"tests" called "read_file"'),
    ("\\\\.py$", "\\\\.c$", 'argument "path" does not match'),
    ('}, error = false }, { name = "write_file" }', "}, error = true }", "the call did not fail"),
    (
        '[{ name = "read_file" }, { name = "call_agent", args = { agent = "tests" } }, { name = "write_file" }]',
        '[{ name = "call_agent" }, { name = "read_file" }, { name = "write_file" }]',
        'expected a call of "call_agent"; called were read_file',
    ),
    (
        '{ agent = "tests" } }, { name = "write_file" }]',
        '{ agent = "tests" } }]',
        '"write_file" {"path": "CHANGELOG.md"',
    ),
    ('{ name = "*_file" }, { name = "call_agent" }', '{ name = "*_file" }', '"call_agent"'),
    ('{ name = "*_file" }, { name = "call_agent" }', '{ name = "grep" }', 'call of "grep"'),
    ('path = "CHANGELOG.md", content', 'path = "OTHER.md", content', 'argument "path" is'),
    ("content = { any = true }", "contents = { any = true }", 'no argument "contents"'),
    ('"*_file", times = 2', '"*_file", times = 1', '"write_file" {"path": "CHANGELOG.md"'),
    ('agent = "tests"\ntimes = 1', 'agent = "tests"\ntimes = 2', "was called once, not 2 times"),
    ('agent = "docs"\ntimes = 0', 'agent = "docs"', '"docs" was not called; called: tests'),
    ('times = 1\ntask = { contains = "fast" }', 'task = { contains = "slow" }', "its task lacks"),
    ('answer = { contains = "212" }', 'answer = { contains = "0" }', "tests: answer lacks"),
    ("turns = { max = 2 }", "turns = { max = 1 }", "lead → tests: turns is 2"),
    (
        'args = { path = "gone.py" }, error',
        'args = { path = "g" }, error',
        "lead → tests: expected",
    ),
    ("error = true", "error = false", "the call failed"),
]


@pytest.mark.parametrize(("met", "unmet", "message"), UNMET)
async def test_one_that_is_not_met_is_the_only_failure(
    project: Project, met: str, unmet: str, message: str
) -> None:
    assert MET.count(met) == 1
    path = project.case(MET.replace(met, unmet))
    (outcome,) = await project.outcomes(path)
    assert outcome.verdict == "failed"
    (failure,) = outcome.failures
    assert message in failure.message
    changed = HEAD.count("\n") + MET[: MET.index(met)].count("\n") + 1
    lines = unmet.count("\n") + 1
    assert changed <= outcome.suite.line(failure.range) <= changed + lines


async def test_a_call_in_another_order_is_told_apart_from_another_call(project: Project) -> None:
    path = project.case(
        "\n[[case.expect.tools]]\n"
        'calls = [{ name = "write_file" }, { name = "*_file", args = { path = "src/a.py" } }]\n'
    )
    (outcome,) = await project.outcomes(path)
    (failure,) = outcome.failures
    assert failure.message == (
        'lead: expected a call of "*_file"; it was called, but not so often or not in this order'
    )
    assert failure.call is not None
    assert failure.call.arguments == {"path": "src/a.py"}


async def test_a_cost_that_is_not_known_is_within_no_limit(project: Project) -> None:
    project.edit("axe/agents/tests.toml", "openai/gpt-4o", "openai/m-tests")
    (outcome,) = await project.outcomes(project.case("\n[case.expect]\ncost = { max = 1 }\n"))
    (failure,) = outcome.failures
    assert failure.message == "lead: cost is not known, since the price of a model is not known"
    assert outcome.suite.line(failure.range) == 11


async def test_without_expectations_the_run_has_to_complete(project: Project) -> None:
    (outcome,) = await project.outcomes(project.case())
    assert outcome.verdict == "passed"
    answer = """text = '{"ok": true, "passed": 212}'\ninput_tokens = 100\noutput_tokens = 10"""
    failure = 'error = { category = "server", message = "down" }'
    project.edit("axe/tests/recordings/asks.toml", answer, failure)
    project.edit("axe/agents/lead.toml", "tools", "retry = { max_retries = 0 }\ntools")
    (outcome,) = await project.outcomes(project.case())
    assert outcome.verdict == "failed"
    assert [each.message for each in outcome.failures] == [
        'lead: status is "failed", not "completed": server: down'
    ]
    (outcome,) = await project.outcomes(project.case('\n[case.expect]\nerror = "down"\n'))
    assert outcome.verdict == "passed"


async def test_what_is_not_allowed_is_denied(project: Project) -> None:
    head = HEAD.replace('allow = ["write_file"]\n', "")
    (outcome,) = await project.outcomes(
        project.case('\n[case.expect]\nfiles = { "CHANGELOG.md" = { contains = "1.1" } }\n', head)
    )
    assert outcome.verdict == "passed", "the file is as it was"
    assert "name it in `allow`" in outcome.warnings[0]
    assert (project.tests / "fixtures/small/CHANGELOG.md").read_text() == "# 1.1\n"


async def test_the_workspace_is_a_copy(project: Project) -> None:
    await project.outcomes(project.case())
    assert (project.tests / "fixtures/small/CHANGELOG.md").read_text() == "# 1.1\n"


@pytest.mark.process
async def test_a_pattern_that_takes_for_ever_fails_its_case_and_no_other(project: Project) -> None:
    name = "a" * 60 + "!"
    project.edit("axe/tests/recordings/asks.toml", "src/a.py", name)
    again = HEAD[HEAD.index("[[case]]") :].replace('"asks"', '"asks again"')
    met = '\n[case.expect]\nanswer = { matches = "^.{1,2}ok" }\n'
    path = project.case(
        "\n[case.expect]\nturns = { max = 1 }\n"
        'forbidden = [{ name = "read_file", args = { path = { matches = "^(a+)+$" } } }]\n'
        f"\n{again}{met}"
    )
    endless, other = await project.outcomes(path)
    assert [each.message for each in endless.failures] == [
        "lead: turns is 3, more than 1",
        f'this pattern takes too long, "^(a+)+$": "{name[:60]}…"',
    ]
    assert endless.suite.line(endless.failures[-1].range) == 12
    assert (endless.verdict, other.verdict) == ("failed", "passed"), other.failures


SIDE_RUN = """
[case.expect]
turns = { max = 4 }

[[case.expect.children]]
agent = "tests"
background = true
times = 1
"""


@pytest.mark.req("002-3")
async def test_child_with_background_is_met_by_a_side_run_alone(project: Project) -> None:
    """The recording was written for a call that waits; the calls after it come from the same answers."""
    unmet = 'agent "tests" was called, but not as a side run'
    (waited_for,) = await project.outcomes(project.case(SIDE_RUN.replace("times = 1\n", "")))
    assert [each.message for each in waited_for.failures] == [f"lead: {unmet}"]
    agent = project.root / "axe/agents/lead.toml"
    agent.write_text(f'{agent.read_text()}[sub_agents_config]\nbackground = "always"\n')
    recording = "axe/tests/recordings/asks.toml"
    project.edit(
        recording,
        '"call_agent"]',
        '"call_agent", "check_agents", "wait_agents", "message_agent", "stop_agent"]',
    )
    project.edit(recording, 'text = "I write."', 'given = ["tests-1"]\ntext = "I write."')
    (side,) = await project.outcomes(project.case(SIDE_RUN))
    assert [each.message for each in side.failures] == []
    opposite = SIDE_RUN.replace("true", "false").replace("times = 1\n", "")
    (failed,) = await project.outcomes(project.case(opposite))
    unmet = 'agent "tests" was called, but as a side run'
    assert [each.message for each in failed.failures] == [f"lead: {unmet}"]
