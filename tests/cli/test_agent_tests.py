"""`axe-lsp test`: replayed and recorded cases, what is printed of them, exit codes, trust."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import pytest
import xmlschema
from jsonschema import Draft202012Validator

from support.agent_tests import HEAD, PLAIN, RECORDING, Project
from support.command_line import Home
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

TEST = ["test", "--trust"]

JUNIT = Path(__file__).parents[1] / "schemas" / "junit"
"""The schemas that readers of JUnit's XML have published, each with its licence."""


def shows(stream: IO[str] | None, text: str) -> None:
    """Wait until a line has the text."""
    assert stream is not None
    while text not in (line := stream.readline()):
        assert line, "it has ended"


@pytest.fixture
def project(home: Home) -> Project:
    return Project(home.work)


def test_a_case_is_replayed_without_a_key(home: Home, project: Project) -> None:
    project.case()
    home.environment.pop("OPENAI_API_KEY")
    code, out, err = home.call(*TEST)
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == ["axe/tests/release.toml", "  ok asks"]
    assert out.splitlines()[2].startswith("1 passed in ")
    assert home.call("history", "list", "--json")[1] == "[]\n"


def test_a_failure_names_its_place_and_marks_the_call(home: Home, project: Project) -> None:
    project.case('\n[case.expect]\nforbidden = ["write_file"]\n')
    code, out, _ = home.call(*TEST)
    assert code == 1
    runs = json.loads(home.call("history", "list", "--json")[1])
    assert [(each["agent"], each["status"]) for each in runs] == [("lead", "completed")]
    assert out.splitlines()[1:-1] == [
        "  FAILED asks",
        '      axe/tests/release.toml:11: "lead" called "write_file" '
        '{"path": "CHANGELOG.md", "content": "# 1.2\\n"}, which is forbidden',
        f"      run {runs[0]['runId'][:8]}",
        "        lead: completed, 3 turns",
        '          read_file {"path": "src/a.py"}',
        '          call_agent {"agent": "tests", "task": "Run the fast ones"}',
        "            tests: completed, 2 turns",
        '              read_file {"path": "gone.py"}, which failed',
        '      >   write_file {"path": "CHANGELOG.md", "content": "# 1.2\\n"}',
    ]
    assert out.splitlines()[-1].startswith("1 failed in ")


@pytest.mark.parametrize(
    ("old", "new", "reason", "diff"),
    [
        (
            "You lead.",
            "You lead well.",
            'turn 1, system differs at character 9: recorded "You lead.", sent "You lead well."',
            ["-You lead.", "+You lead well."],
        ),
        (
            '"write_file"]',
            '"edit_file"]',
            "turn 1, tools differs at character 12: recorded",
            ["-read_file, write_file, call_agent", "+read_file, edit_file, call_agent"],
        ),
        (
            "openai/m-lead",
            "openai/m-other",
            'turn 1, model differs at character 10: recorded "openai/m-lead"',
            ["-openai/m-lead", "+openai/m-other"],
        ),
    ],
)
def test_a_changed_agent_makes_the_recording_stale(
    home: Home, project: Project, old: str, new: str, reason: str, diff: list[str]
) -> None:
    project.case('\n[case.expect]\nanswer = { contains = "never" }\n')
    project.edit("axe/agents/lead.toml", old, new)
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "  STALE asks\n" in out
    assert f'release.toml:6: run 1 (agent "lead"), {reason}' in out
    assert all(f"      {line}\n" in out for line in diff)
    command = "axe-lsp test --record --update axe/tests/release.toml::asks"
    assert f"      `{command}` records it again\n" in out
    assert "never" not in out, "nothing is judged on a stale answer"


def test_loose_accepts_a_changed_prompt_and_no_changed_task(home: Home, project: Project) -> None:
    project.case()
    project.edit("axe/agents/lead.toml", "You lead.", "You lead well.")
    assert home.call(*TEST, "--loose")[0] == 0
    project.case(head=HEAD.replace("Can this", "Could this"))
    code, out, _ = home.call(*TEST, "--loose")
    assert code == 1
    assert "sent 1, content differs at character 2" in out


def test_a_case_without_a_recording_names_the_next_step(home: Home, project: Project) -> None:
    project.case(head=HEAD.replace('replay = "asks.toml"\n', ""))
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "MISSING asks" in out
    assert "`axe-lsp test --record axe/tests/release.toml::asks` makes it" in out


def script(provider: ScriptedProvider, answer: str = "Yes: 212 passed") -> None:
    provider.script(
        "m-lead",
        Says(calls=[calls_agent("tests", "Run them"), Call("read_file", {"path": "src/a.py"})]),
        Says(answer),
    )
    provider.script("m-tests", Says("212 passed"))


def test_a_case_is_recorded_judged_and_replayed(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    head = HEAD.replace('replay = "asks.toml"\n', "")
    project.case('\n[case.expect]\nanswer = { contains = "212" }\n', head)
    recording = project.tests / "recordings" / "release" / "asks.toml"
    script(provider)
    assert home.call(*TEST, "--record")[0] == 0
    assert "212 passed" in recording.read_text()
    assert "key-openai" not in recording.read_text()
    assert str(home.work) not in recording.read_text()
    home.environment.pop("OPENAI_API_KEY")
    assert home.call(*TEST)[0] == 0
    before = recording.read_text()
    assert home.call(*TEST, "--record")[0] == 0, "what has a recording is replayed"
    assert recording.read_text() == before


def test_a_recording_that_can_not_be_written_fails_its_case_before_it_costs(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    other = HEAD[HEAD.index("[[case]]") :]
    project.case(other.replace('"asks"', '"other"'), HEAD.replace("asks.toml", "blocked/asks.toml"))
    (project.tests / "recordings" / "blocked").write_text("")
    code, out, err = home.call(*TEST, "--record")
    assert (code, err) == (1, "")
    blocked = project.tests / "recordings" / "blocked"
    assert f"release.toml:6: the recording can't be written: {blocked} is not a folder" in out
    assert "  ok other\n" in out, "the other cases are run"
    assert provider.requests == []


@pytest.mark.parametrize("damaged", ["version = [", "", "version = 99\n"])
def test_a_damaged_recording_says_how_it_is_replaced_and_is(
    home: Home, project: Project, provider: ScriptedProvider, damaged: str
) -> None:
    project.case()
    recording = project.write("axe/tests/recordings/asks.toml", damaged)
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "failed to parse recording" in out
    command = "axe-lsp test --record --update axe/tests/release.toml::asks"
    assert f"`{command}` records it again" in out
    script(provider)
    code, out, err = home.call(*TEST, "--record", "--update", "--yes")
    assert (code, "  ok asks (recorded again)\n" in out) == (0, True)
    assert "+text = " in err
    assert "212 passed" in recording.read_text()
    assert home.call(*TEST)[0] == 0


def test_an_interrupted_recording_leaves_none_and_tells_what_is_not_done(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("late"), hold=hold))
    other = HEAD[HEAD.index("[[case]]") :].replace('"asks"', '"new"').replace("asks.toml", "n.toml")
    project.case(other)
    with home.start(*TEST, "--record") as process:
        shows(process.stdout, "ok asks")
        hold.wait_until_arrived()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")
    assert "1 passed, 1 interrupted in " in out
    assert [each.name for each in (project.tests / "recordings").iterdir()] == ["asks.toml"]


def test_a_killed_recording_leaves_none(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("late"), hold=hold))
    project.case(head=HEAD.replace("asks.toml", "n.toml"))
    with home.start(*TEST, "--record") as process:
        hold.wait_until_arrived()
        process.kill()
        process.communicate(timeout=30)
    assert [each.name for each in (project.tests / "recordings").iterdir()] == ["asks.toml"]


def test_a_providers_failure_is_no_recording(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case(head=HEAD.replace('replay = "asks.toml"\n', ""))
    provider.script("m-lead", Refuses(401, "no such key"))
    code, out, _ = home.call(*TEST, "--record")
    assert code == 3
    assert "PROVIDER asks" in out
    assert "no such key" in out
    assert not (project.tests / "recordings" / "release").exists()


def test_the_folder_of_a_run_is_not_in_its_recording(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    """Commands print the folder, which differs each time; and the model names it again."""
    (project.tests / "recordings/asks.toml").unlink()
    project.edit("axe/agents/lead.toml", '"write_file"]', '"run_command"]')
    head = HEAD.replace('["write_file"]', '["run_command(pwd)", "run_command(ls *)"]')
    head = head.replace('replay = "asks.toml"\n', "")
    project.case(
        '\n[case.expect]\ntools = [{ calls = [{ name = "run_command", error = false }] }]\n', head
    )
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": "pwd"})]), Says("done"))
    code, out, err = home.call(*TEST, "--record")
    assert (code, err) == (0, ""), out
    assert "/axe-test-workspace\n" in (project.tests / "recordings/release/asks.toml").read_text()
    code, out, err = home.call(*TEST)
    assert (code, err) == (0, ""), out


def test_a_conversation_has_several_tasks(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    head = HEAD.replace('"Can this be released?"', '["First", "And then?"]')
    head = head.replace('replay = "asks.toml"\n', "")
    project.case('\n[case.expect]\nanswer = { equals = "second" }\nturns = { equals = 2 }\n', head)
    provider.script("m-lead", Says("first"), Says("second"))
    code, out, _ = home.call(*TEST, "--record")
    assert code == 0, out
    told = provider.requests[1].body["messages"]
    assert [each["content"] for each in told][-3:] == ["First", "first", "And then?"]
    code, out, _ = home.call(*TEST)
    assert code == 0, out
    assert len(provider.requests) == 2


JUDGE = """
name = "judge"
model = "openai/m-judge"

[input.properties]
task = { type = "string" }
answer = { type = "string" }
transcript = { type = "string" }
criteria = { type = "string" }

[output]
required = ["pass", "reason"]

[output.properties]
pass = { type = "boolean" }
reason = { type = "string" }
"""


def test_a_judge_is_an_agent_and_is_replayed(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.write("axe/agents/judge.toml", JUDGE)
    head = HEAD.replace('replay = "asks.toml"\n', "")
    project.case('\n[[case.expect.judge]]\nagent = "judge"\ncriteria = "Is brief."\n', head)
    script(provider)
    provider.script("m-judge", Says(json.dumps({"pass": False, "reason": "It is long."})))
    code, out, _ = home.call(*TEST, "--record")
    assert code == 1
    assert 'release.toml:10: judge "judge": It is long.' in out
    asked = json.dumps([each.body for each in provider.requests if each.body["model"] == "m-judge"])
    assert "Is brief." in asked
    assert "lead called call_agent" in asked
    requests = len(provider.requests)
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "It is long." in out
    assert len(provider.requests) == requests


def test_mistakes_of_a_file_have_their_places(home: Home, project: Project) -> None:
    project.case('\n[case.expect]\nanwser = { contains = "212" }\nturns = { max = "4" }\n')
    code, out, err = home.call(*TEST)
    assert (code, out) == (2, "")
    assert 'axe/tests/release.toml:11: unknown key "case.expect.anwser"' in err
    assert (
        "axe/tests/release.toml:12: case.expect.turns.max must be an integer, not a string" in err
    )


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ('answer = { matches = "(" }', "not a regular expression"),
        ('answer = { schema = { type = "objekt" } }', "objekt"),
        (
            'forbidden = ["read_file"]\ntools = [{ calls = [{ name = "read_file" }] }]',
            "forbidden in the same case",
        ),
        ("tools = [{}]", "tools need `calls`"),
        ("children = [{ times = 1 }]", "a child needs `agent`"),
        ('files = { "../x" = true }', "files must name a file of the copied workspace"),
        ('judge = [{ agent = "j" }]', "a judge needs `criteria`"),
        ('[[case]]\nname = "asks"', 'another case of this file is named "asks"'),
        ('[[case]]\ntask = "x"', "the case needs `name`"),
    ],
)
def test_each_mistake_is_an_error(home: Home, project: Project, expect: str, message: str) -> None:
    project.case(f"\n[case.expect]\n{expect}\n" if not expect.startswith("[") else f"\n{expect}\n")
    code, _, err = home.call(*TEST)
    assert code == 2
    assert message in err


def test_files_and_cases_are_chosen(home: Home, project: Project) -> None:
    more = HEAD[HEAD.index("[[case]]") :].replace("asks", "asks again", 1)
    project.case(more)
    project.write("axe/tests/other.toml", 'agent = "docs"\n[[case]]\nname = "x"\ntask = "t"\n')
    names = ["ok asks", "ok asks again"]
    code, out, _ = home.call(*TEST, "axe/tests/release.toml", "--jobs", "1")
    assert (code, [line.strip() for line in out.splitlines()[1:3]]) == (0, names)
    code, out, _ = home.call(*TEST, "axe/tests/release.toml::asks again")
    assert (code, out.splitlines()[1].strip(), len(out.splitlines())) == (0, "ok asks again", 3)
    assert home.call(*TEST, "--agent", "lead")[0] == 0
    code, _, err = home.call(*TEST, "axe/tests/release.toml::ask")
    assert (code, 'has no case "ask". Did you mean "asks"?' in err) == (2, True)
    assert home.call(*TEST, "axe/tests/none.toml")[0] == 2


def test_formats_for_programs(home: Home, project: Project) -> None:
    project.case("\n[case.expect]\nturns = { max = 1 }\n")
    code, out, _ = home.call(*TEST, "--format", "json")
    (told,) = map(json.loads, out.splitlines())
    assert code == 1
    assert (told["verdict"], told["name"], told["turns"]) == ("failed", "asks", 3)
    (failure,) = told["failures"]
    assert (failure["line"], failure["agent"]) == (11, "lead")
    out = home.call(*TEST, "--format", "github")[1]
    assert (
        "::error file=axe/tests/release.toml,line=11,title=asks%3A failed::lead: turns is 3, more than 1"
        in out
    )
    out = home.call(*TEST, "--format", "junit")[1]
    suite = ElementTree.fromstring(out)[0]
    assert (suite.get("name"), suite.get("failures")) == ("axe/tests/release.toml", "1")
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "lead: turns is 3, more than 1"
    (case,) = suite.iter("testcase")
    assert float(case.get("time", "0")) > 0


@pytest.mark.parametrize("schema", ["ant", "xunit-plugin"])
def test_junit_is_valid_by_the_schemas_of_its_readers(
    home: Home, project: Project, schema: str, provider: ScriptedProvider
) -> None:
    """Jenkins' plugin xUnit refuses a file that is not."""
    valid = xmlschema.XMLSchema(str(JUNIT / f"{schema}.xsd"))
    kinds: set[str] = set()

    def check(*options: str) -> None:
        out = home.call(*TEST, "--format", "junit", *options)[1]
        valid.validate(out)
        kinds.update(each.tag for each in ElementTree.fromstring(out).iter())

    new = HEAD[HEAD.index("[[case]]") :].replace('"asks"', '"new \\u0007 <&\\""')
    project.case(f"[case.expect]\nturns = {{ max = 1 }}\n\n{new.replace('asks.toml', 'n.toml')}")
    project.write("axe/tests/other.toml", PLAIN)
    check()
    provider.script("m-lead", Refuses(401, "no key"))
    check("--live", "--jobs", "1", "axe/tests/other.toml")
    assert {"failure", "error", "testcase"} <= kinds


@pytest.mark.parametrize("format_", ["text", "github"])
def test_no_text_of_a_file_or_recording_is_obeyed(
    home: Home, project: Project, format_: str
) -> None:
    project.case()
    hidden = "\\n::warning::hidden\\n##[group]\\u001b]0;x\\u0007"
    file, recording = project.tests / "release.toml", project.tests / "recordings/asks.toml"
    file.write_text(file.read_text().replace('"asks"', f'"asks{hidden}"'))
    recording.write_text(recording.read_text().replace("You lead.", f"You led.{hidden}"))
    agent = project.root / "axe/agents/lead.toml"
    agent.write_text(agent.read_text().replace("You lead.", f"You lead.{hidden}"))
    code, out, _ = home.call(*TEST, "--format", format_)
    assert (code, "STALE" in out, "hidden" in out) == (1, True, True)
    assert "\x1b" not in out
    assert "\x07" not in out
    commands = [line for line in out.splitlines() if line.lstrip().startswith("::")]
    assert format_ == "text" or [line.partition(" ")[0] for line in commands] == ["::error"]
    assert format_ == "text" or "##[" not in out


def test_github_gets_a_summary_of_the_job(home: Home, project: Project, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    home.environment["GITHUB_STEP_SUMMARY"] = str(summary)
    project.case('\n[case.expect]\nanswer = { contains = "a | <b> `c`" }\n')
    assert home.call(*TEST, "--format", "github")[0] == 1
    lines = summary.read_text().splitlines()
    assert lines[:5] == [
        "before",
        "### Tests of agents: 1 failed",
        "",
        "| | case | |",
        "|---|---|---|",
    ]
    assert lines[5].startswith(
        "| FAILED | axe/tests/release.toml:6 asks | lead: answer lacks "
        '"a &#124; &#60;b&#62; &#96;c&#96;"'
    )
    home.environment["GITHUB_STEP_SUMMARY"] = str(tmp_path / "gone" / "summary.md")
    code, out, _ = home.call(*TEST, "--format", "github")
    assert (code, "::warning ::no summary: " in out) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--model openai/m", "--model needs --live"),
        ("--record -n 2", "-n needs --live"),
        ("--max-cost 1", "--max-cost needs --live or --record"),
        ("--record --yes", "--yes needs --record --update"),
        ("--record --ask", "--ask needs --record --update"),
        ("--update", "--update needs --record"),
        ("--record --update --ask", "--ask needs --format json"),
        ("--live --model m", 'invalid model format "m": expected provider/model-name'),
        ("--live --model opena/m", 'unsupported provider "opena": did you mean openai?'),
        ("--nonsense", "unrecognized arguments: --nonsense"),
        ("new", "the following arguments are required: RUN"),
        ("--live -n x", "argument -n: 'x' is not a whole number"),
    ],
)
def test_options_that_are_wrong_or_do_nothing_are_errors(
    home: Home, project: Project, provider: ScriptedProvider, options: str, message: str
) -> None:
    project.case()
    given = options.split()
    code, out, err = home.call(*(["test"] if given == ["new"] else TEST), *given)
    assert (code, out, message in err) == (2, "", True)
    assert provider.requests == []


@pytest.mark.parametrize("trap", ["", 'task = """\n[[case]]\nname = "two"\n"""\n'])
def test_a_chosen_case_runs_though_another_one_has_mistakes(
    home: Home, project: Project, trap: str
) -> None:
    """Lines are those of the whole file; a case in a string is none."""
    wrong = f'\n[[case]]\nname = "two"\n{trap}anwser = 1\n'
    asks = PLAIN[PLAIN.index("[[case]]") :]
    project.case(
        head=f'agent = "lead"\nworkspace = "fixtures/small"\n{wrong}\n{asks}'
        "[case.expect]\nturns = { max = 1 }\n"
    )
    assert home.call("test")[0] == 2
    code, out, err = home.call("test", "axe/tests/release.toml::asks")
    if trap:
        assert (code, 'unknown key "case.anwser"' in err) == (2, True)
    else:
        line = 1 + (project.tests / "release.toml").read_text().splitlines().index(
            "turns = { max = 1 }"
        )
        assert (code, f"release.toml:{line}: lead: turns is 3" in out) == (1, True)
    assert home.call("test", "axe/tests/release.toml::two")[0] == 2


def test_results_have_a_json_schema(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    valid = Draft202012Validator(json.loads(home.call("schema", "test-result")[1]))
    seen = set()

    def check(*options: str) -> None:
        for line in home.call(*TEST, "--format", "json", *options)[1].splitlines():
            told = json.loads(line)
            assert [each.message for each in valid.iter_errors(told)] == []
            seen.add(told["verdict"])

    more = HEAD[HEAD.index("[[case]]") :].replace('"asks"', '"new"').replace("asks.toml", "n.toml")
    project.case(more)
    check()
    project.case('\n[case.expect]\nforbidden = ["write_file"]\n')
    check()
    project.edit("axe/agents/lead.toml", "You lead.", "You lead well.")
    check()
    provider.script("m-lead", Says("one"), Says("two"))
    check("--live", "-n", "2")
    provider.script("m-lead", Refuses(401, "no key"))
    check("--live")
    assert seen == {"passed", "failed", "missing", "stale", "provider"}
    assert list(valid.iter_errors({"file": "x"})), "and it says no"


def test_allow_needs_trust_of_this_content(home: Home, project: Project) -> None:
    project.case()
    code, out, err = home.call("test")
    assert (code, out) == (2, "")
    assert "  allow: write_file\n" in err
    assert "`axe-lsp trust axe/tests/release.toml` allows it" in err
    assert home.call("trust", "axe/tests/release.toml", "--yes")[0] == 0
    assert home.call("test")[0] == 0
    project.edit("axe/tests/fixtures/small/src/a.py", "1", "2")
    assert home.call("test")[0] == 2, "what the tools work on has changed"


def test_a_strangers_workspace_leads_nowhere(home: Home, project: Project, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    link = project.tests / "fixtures/small/link"
    link.symlink_to(secret)
    project.case()
    code, _, err = home.call(*TEST)
    assert (code, "is a link that leads out of the workspace" in err) == (2, True)
    link.unlink()
    project.case(head=HEAD.replace("fixtures/small", "../../.."))
    code, _, err = home.call(*TEST)
    assert (code, "is outside the project" in err) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('workspace = "fixtures/small"', f'workspace = "{"x" * 5000}"', 2),
        ('workspace = "fixtures/small"', 'workspace = "circle"', 2),
        ('replay = "asks.toml"', f'replay = "{"x" * 5000}.toml"', 1),
        ('replay = "asks.toml"', 'replay = "../circle/x.toml"', 1),
        ("[case.expect]", '[case.expect]\nfiles."circle/x" = true', 1),
        ("[case.expect]", f'[case.expect]\nfiles."{"x" * 5000}" = true', 1),
    ],
)
def test_a_place_that_is_none_is_named(
    home: Home, project: Project, old: str, new: str, code: int
) -> None:
    project.case("\n[case.expect]\n")
    file = project.tests / "release.toml"
    file.write_text(file.read_text().replace(old, new))
    for folder in (project.tests, project.tests / "fixtures/small"):
        (folder / "circle").symlink_to("circle")
    found, out, err = home.call(*TEST)
    assert (found, "Traceback" in err) == (code, False)
    assert "axe/tests/release.toml" in (out + err)


def test_a_workspace_that_is_too_large_is_not_copied(home: Home, project: Project) -> None:
    project.case()
    with (project.tests / "fixtures/small/large").open("wb") as file:
        file.truncate(2**31)
    for command in (TEST, ["test"], ["trust", "axe/tests/release.toml"]):
        code, _, err = home.call(*command)
        assert (code, 'workspace "fixtures/small" is larger than 256 MB' in err) == (2, True)


def test_recordings_that_no_case_uses_are_named(home: Home, project: Project) -> None:
    project.case()
    project.write("axe/tests/others.toml", HEAD.replace("asks.toml", "release/other.toml"))
    for name in ("other", "renamed"):
        project.write(f"axe/tests/recordings/release/{name}.toml", RECORDING)
    code, _, err = home.call(*TEST)
    unused = "Warning: no case uses the recording axe/tests/recordings/release/renamed.toml\n"
    assert (code, err) == (0, unused)
    assert home.call(*TEST, "axe/tests/release.toml")[2] == "", "the other files were not read"


def test_recordings_outside_the_project_are_not_looked_for(
    home: Home, project: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.toml").touch()
    project.case(head=HEAD.replace('"asks.toml"', '"../../kept/asks.toml"'))
    recordings = project.tests / "recordings"
    recordings.rename(project.root / "axe" / "kept")
    recordings.symlink_to(outside)
    code, out, err = home.call(*TEST)
    assert (code, err) == (0, ""), out


def test_watched_tests_run_again_after_each_change(home: Home, project: Project) -> None:
    file = project.case('\n[case.expect]\nanswer = { contains = "212" }\n', PLAIN)
    with home.start("test", "--watch") as process:
        assert process.stdout is not None
        assert process.stderr is not None

        shows(process.stdout, "1 passed in ")
        shows(process.stderr, "Waiting for changes")
        project.edit("axe/tests/release.toml", "212", "213 of them")
        shows(process.stdout, "1 failed in ")
        project.edit("axe/tests/release.toml", "213 of them", "21")
        shows(process.stdout, "1 passed in ")
        text = file.read_text()
        file.write_text("agent = ")
        shows(process.stderr, "release.toml:1")
        file.write_text(text)
        shows(process.stdout, "1 passed in ")
        project.edit("axe/agents/lead.toml", "You lead.", "You lead them.")
        shows(process.stdout, "STALE asks")
        shows(process.stdout, "1 stale in ")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130


def test_the_advice_for_an_agent_that_reaches_out_is_about_tests(
    home: Home, project: Project
) -> None:
    project.case("", PLAIN)
    skill = project.write("skill.md", "")
    project.edit("axe/agents/lead.toml", 'name = "lead"', f'name = "lead"\nskill = "{skill}"')
    _, out, _ = home.call("test")
    assert f"skill: {skill}" in out
    assert "`axe-lsp test --trust` allows it." in out
    assert "axe-lsp trust" not in out, "its workspace is gone"
    assert home.call("test", "--trust")[0] == 0


def test_watched_tests_follow_what_agents_read_elsewhere(home: Home, project: Project) -> None:
    """A skill of a called agent, and context files of an agent with a folder of its own."""
    project.case("", PLAIN)
    skill = project.write("skills/writing.md", "Write.\n")
    project.edit("axe/agents/docs.toml", 'name = "docs"', f'name = "docs"\nskill = "{skill}"')
    rules = project.write("elsewhere/rules.md", "One.\n")
    own = f'name = "tests"\nworkdir = "{rules.parent}"\nfiles = ["*.md"]'
    project.edit("axe/agents/tests.toml", 'name = "tests"', own)
    with home.start("test", "--watch", "--trust") as process:
        assert process.stderr is not None
        assert process.stdout is not None

        def runs() -> None:
            while not (line := process.stdout.readline()).endswith(" s\n"):
                assert line, "it has ended"
            assert "Waiting for changes" in process.stderr.readline()

        runs()
        skill.write_text("Write well.\n")
        runs()
        rules.write_text("One and two.\n")
        runs()
        project.write("elsewhere/more.md", "Three.\n")
        runs()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def test_watched_tests_do_not_cost_money(home: Home, project: Project) -> None:
    project.case(head=PLAIN)
    code, _, err = home.call("test", "--watch", "--live")
    assert (code, "--watch replays recordings" in err) == (2, True)


def test_the_duration_is_that_of_real_answers(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case("\n[case.expect]\nseconds = { max = 0 }\n", HEAD)
    assert home.call(*TEST)[0] == 0, "a replayed run has no duration"
    provider.script("m-lead", Says("Yes."))
    code, out, _ = home.call(*TEST, "--live")
    assert code == 1
    (failure,) = [line for line in out.splitlines() if "release.toml:" in line]
    assert "release.toml:11: lead: seconds is " in failure
    assert failure.endswith(", more than 0")


def test_live_runs_give_a_rate(home: Home, project: Project, provider: ScriptedProvider) -> None:
    rated = HEAD.replace('replay = "asks.toml"\n', "rate = 0.5\n")
    project.case(
        '\n[case.expect]\nanswer = "212"\n'.replace('"212"', '{ contains = "212" }'), rated
    )
    provider.script("m-lead", Says("212"), Says("none"), Says("212"), Says("212"))
    code, out, _ = home.call(*TEST, "--live", "-n", "4", "--jobs", "1")
    assert code == 0, out
    assert "3 of 4 passed (75%, 95 % interval 30% to 95%; needed 50%)" in out
    assert not (project.tests / "recordings/release").exists()
    provider.script("m-lead", Says("212"), Says("none"), Says("none"))
    code, out, _ = home.call(*TEST, "--live", "-n", "3", "--jobs", "1", "--format", "json")
    told = json.loads(out)
    assert (code, told["verdict"], told["rate"]["passed"], told["rate"]["runs"]) == (
        1,
        "failed",
        1,
        3,
    )
    assert 'answer lacks "212"' in told["failures"][0]["message"]


def test_models_are_compared(home: Home, project: Project, provider: ScriptedProvider) -> None:
    project.case('\n[case.expect]\nanswer = { contains = "212" }\n')
    provider.script("m-one", Says("212"))
    provider.script("m-two", Says("none"))
    models = ["--model", "openai/m-one", "--model", "openai/m-two"]
    code, out, _ = home.call(*TEST, "--live", *models)
    assert code == 1
    assert "openai/m-one, 1 of 1 passed (100%, 95 % interval 21% to 100%" in out
    assert "openai/m-two, 0 of 1 passed" in out


def test_a_cost_that_is_not_known_is_told(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case()
    provider.script("m-lead", Says("212"))
    code, out, err = home.call(*TEST, "--live", "--max-cost", "1")
    assert (code, "cost not known" in out) == (0, True)
    assert "--max-cost can't be kept: asks has a model whose price is not known" in err


def test_the_cost_limit_ends_live_runs(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.edit("axe/agents/lead.toml", "openai/m-lead", "openai/gpt-4o")
    project.case()
    provider.script("gpt-4o", Says("212", usage=(1000, 1000)))
    code, out, _ = home.call(*TEST, "--live", "-n", "3", "--jobs", "1", "--max-cost", "0.001")
    assert code == 4, out
    assert "NOT RUN asks" in out
    assert "1 of 1 passed" in out
    assert len(provider.requests) == 1


def test_what_is_known_of_a_cost_counts_for_the_limit(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.edit("axe/agents/lead.toml", "openai/m-lead", "openai/gpt-4o")
    project.write("axe/agents/judge.toml", JUDGE)
    project.case('\n[[case.expect.judge]]\nagent = "judge"\ncriteria = "Is brief."\n')
    provider.script("gpt-4o", Says("212", usage=(1000, 1000)))
    provider.script("m-judge", Says(json.dumps({"pass": True, "reason": "It is."})))
    code, out, _ = home.call(*TEST, "--live", "-n", "3", "--jobs", "1", "--max-cost", "0.001")
    assert code == 4, out
    assert "NOT RUN asks" in out
    assert len(provider.requests) == 2


def test_a_recording_is_replaced_after_its_difference_was_shown(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case('\n[case.expect]\nanswer = { contains = "213" }\n')
    recording = project.tests / "recordings" / "asks.toml"
    before = recording.read_text()
    code, _, err = home.call(*TEST, "--record", "--update")
    assert (code, "--yes replaces recordings" in err) == (2, True)
    assert (recording.read_text(), provider.requests) == (before, [])
    script(provider, "Yes: 213 passed")
    code, _, err = home.call(*TEST, "--record", "--update", "--yes")
    assert code == 0
    assert '-text = "{\\"ok\\": true' in err or '-text = \'{"ok": true' in err
    assert '+text = "Yes: 213 passed"' in err
    assert "213 passed" in recording.read_text()
    assert home.call(*TEST)[0] == 0


def test_a_program_is_asked_before_a_recording_is_replaced(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case()
    recording = project.tests / "recordings" / "asks.toml"
    update = [*TEST, "--record", "--update", "--ask"]
    before = recording.read_text()
    for answer in ("no\n", "", "yes\n"):
        assert recording.read_text() == before
        script(provider, "Yes: 213 passed")
        code, out, _ = home.call(*update, "--format", "json", stdin=answer)
        question, result = map(json.loads, out.splitlines())
        assert (code, result["verdict"]) == (0, "passed")
        assert [question[key] for key in ("asks", "file", "name")] == [
            "replace",
            "axe/tests/release.toml",
            "asks",
        ]
        assert "212 passed" in question["before"]
        assert "213 passed" in question["after"]
    assert "213 passed" in recording.read_text()


@pytest.mark.parametrize(
    "link", ["lead.toml", "recordings", "recordings/lead", "recordings/lead/Go.toml"]
)
def test_no_case_is_written_through_a_link_of_the_repository(
    home: Home, project: Project, provider: ScriptedProvider, tmp_path: Path, link: str
) -> None:
    """One that leads nowhere yet, too: somebody else would read what is written there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    script(provider)
    assert home.call("run", "lead", "-p", "Go.")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    place = project.tests / link
    if place.is_dir():
        place.rename(tmp_path / "former")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside / "start.toml" if link.endswith(".toml") else outside)
    code, _, err = home.call("test", "new", run["runId"][:8])
    assert (code, "is a link out of" in err) == (2, True)
    assert list(outside.iterdir()) == []


def test_a_case_is_made_of_a_run(home: Home, project: Project, provider: ScriptedProvider) -> None:
    project.write("src/a.py", "a = 1\n")
    script(provider)
    assert home.call("run", "lead", "-p", "Can this be released? Tell me.")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    home.environment.pop("OPENAI_API_KEY")
    code, out, err = home.call("test", "new", run["runId"][:8])
    assert (code, err) == (0, ""), out
    assert out.startswith(
        "axe/tests/lead.toml::Can this be released Tell me, recorded in axe/tests/rec"
    )
    text = (project.tests / "lead.toml").read_text()
    assert text.startswith('agent = "lead"\nworkspace = "../.."\n')
    assert text.endswith("# The answer was:\n# Yes: 212 passed\n")
    recording = project.tests / "recordings/lead/Can-this-be-released-Tell-me.toml"
    assert "key-openai" not in recording.read_text()
    assert home.call("test")[0] == 0
    assert home.call("test", "new", run["runId"][:8])[0] == 0, "a second case has another name"
    assert "Tell me 2" in (project.tests / "lead.toml").read_text()
    inline = project.write("axe/tests/inline.toml", 'agent = "lead"\ncase = [{ name = "x" }]\n')
    code, _, err = home.call("test", "new", run["runId"], "--into", str(inline))
    assert (code, "have to be tables `[[case]]`" in err) == (2, True)
    assert inline.read_text().count("\n") == 2, "nothing was written"
    inline.unlink()
    project.edit("axe/agents/lead.toml", "You lead.", "You read.")
    code, out, _ = home.call("test")
    assert code == 1
    assert out.count("turn 1, system differs at character 5") == 2
    assert len(provider.requests) == 3


def test_a_case_has_the_files_of_prompts(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.write("wish.md", "A wish.\n")
    project.edit("axe/agents/docs.toml", "model", 'files = ["wish.md"]\nmodel')
    provider.script("m-docs", Says("done"))
    assert home.call("run", "docs", "-p", "Do it")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    code, out, _ = home.call("test", "new", run["runId"])
    assert code == 0, out


def test_a_case_of_a_run_that_wanted_to_change_files_replays_the_results_of_tools(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    write = Call("write_file", {"path": "note.md", "content": "x"})
    provider.script("m-lead", Says(calls=[write]), Says("written"))
    assert home.call("run", "lead", "-p", "Write it")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    code, out, _ = home.call("test", "new", run["runId"])
    assert code == 0, out
    assert "Note: results of tools are replayed" in out
    assert 'tools = "recorded"\n' in (project.tests / "lead.toml").read_text()


def test_a_case_needs_a_run_with_its_requests(home: Home, project: Project) -> None:
    assert (
        home.call(
            "run",
            "lead",
            "-p",
            "Can this be released?",
            "--replay",
            "axe/tests/recordings/asks.toml",
        )[0]
        == 0
    )
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    code, out, err = home.call("test", "new", run["runId"])
    assert (code, out) == (2, "")
    assert "the history has no requests" in err
    assert home.call("test", "new", "zzz")[0] == 2


def test_check_finds_tests_of_agents_that_are_gone(home: Home, project: Project) -> None:
    home.environment["OPENAI_API_KEY"] = "key-openai"
    project.case('\n[[case.expect.children]]\nagent = "tests"\n')
    assert home.call("check", "--strict", "axe/tests/release.toml")[1] == "No problems in 1 file.\n"
    (project.root / "axe/agents/tests.toml").unlink()
    code, out, _ = home.call("check", "--strict")
    assert code == 1
    assert (
        'axe/tests/release.toml:11:9: warning[unknown-agent]: no agent file defines "tests"' in out
    )
    project.case(head=HEAD.replace("asks.toml", "gone.toml"))
    assert (
        "release.toml:8:10: warning[missing-file]: there is no recording" in home.call("check")[1]
    )


def test_check_finds_stale_recordings(home: Home, project: Project) -> None:
    project.case()
    assert "No problems in " in home.call("check")[1]
    project.edit("axe/agents/lead.toml", "You lead.", "You leap.")
    code, out, _ = home.call("check")
    assert code == 0
    assert (
        'axe/tests/release.toml:8:10: warning[stale-recording]: the recording is stale: run 1 (agent "lead")'
        in out
    )


def test_a_case_that_needs_more_than_the_file_has_gets_another_file(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    def new_case(task: str, *answers: Says | Refuses) -> tuple[int, str, str]:
        provider.script("m-lead", *answers)
        home.call("run", "lead", "-p", task)
        run = json.loads(home.call("history", "list", "--json")[1])[0]
        return home.call("test", "new", run["runId"][:8])

    project.write("src/a.py", "a = 1\n")
    read = Says(calls=[Call("read_file", {"path": "src/a.py"})])
    assert new_case("Say hello", Says("Hello."))[0] == 0
    code, out, _ = new_case("x" * 400, read, Says("One."))
    assert (code, out.startswith("axe/tests/lead-2.toml::xxx")) == (0, True), out
    assert new_case("Read again", read, Says("One."))[1].startswith("axe/tests/lead-2.toml::")
    assert new_case("Say bye", Says("Bye."))[1].startswith("axe/tests/lead.toml::")

    code, out, err = new_case("Fail", Refuses(401, "no key"))
    assert (code, out) == (2, "")
    assert 'agent "lead" got no answer in this run' in err
    assert "Fail" not in (project.tests / "lead.toml").read_text()


@pytest.mark.parametrize("format_", ["text", "json", "junit", "github"])
def test_a_project_without_tests_passes_if_that_is_no_mistake(home: Home, format_: str) -> None:
    assert home.call("test", "--format", format_)[0] == 2
    code, out, told = home.call("test", "--if-any", "--format", format_)
    assert (code, told) == (0, "there are no tests of agents in this project\n")
    if format_ == "junit":
        assert list(ElementTree.fromstring(out)) == []
