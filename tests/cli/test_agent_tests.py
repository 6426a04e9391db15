"""`axe-lsp test`: what is replayed and printed, mistakes, options, exit codes, trust, `--watch`."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from axe_lsp.cli.streams import complain
from axe_lsp.cli.test import main
from axe_lsp.runtime.errors import RunError
from support.agent_tests import HEAD, PLAIN, TEST, Project, shows
from support.command_line import Home
from support.scripted_provider import ScriptedProvider

Called = Callable[..., tuple[int, str, str]]


@pytest.fixture
def called_here(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Called:
    """`axe-lsp test` in this process, for what ends before a case is run."""
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home.work)

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(list(arguments))
        except SystemExit as ended:  # By argparse.
            code = int(ended.code or 0)
        except RunError as error:  # As `axe-lsp` does for all its commands.
            complain(error)
            code = int(error.exit_code)
        return code, *capsys.readouterr()

    return call


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
def test_each_mistake_is_an_error(
    called_here: Called, project: Project, expect: str, message: str
) -> None:
    project.case(f"\n[case.expect]\n{expect}\n" if not expect.startswith("[") else f"\n{expect}\n")
    code, _, err = called_here("--trust")
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
        ("new", "no run in this folder is stored"),
        ("--live -n x", "argument -n: 'x' is not a whole number"),
    ],
)
def test_option_without_effect_is_an_error(
    called_here: Called,
    project: Project,
    provider: ScriptedProvider,
    options: str,
    message: str,
) -> None:
    project.case()
    given = options.split()
    code, out, err = called_here(*([] if given == ["new"] else ["--trust"]), *given)
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


def test_fixture_that_leads_out_of_the_project_is_refused(
    home: Home, project: Project, tmp_path: Path
) -> None:
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
def test_missing_path_is_reported(
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
        assert "fixtures/small/large alone has 2,048 MB)" in err


def test_workspace_with_a_pipe_or_a_link_to_a_device_is_refused_with_its_name(
    home: Home, project: Project
) -> None:
    project.case()
    fifo = project.tests / "fixtures/small/pipe"
    os.mkfifo(fifo)
    code, _, err = home.call(*TEST)
    assert (code, "small/pipe is a pipe, a socket or a device" in err) == (2, True), err
    fifo.unlink()
    fifo.symlink_to("/dev/zero")
    code, _, err = home.call(*TEST)
    assert (code, "small/pipe is a link that leads out of the workspace" in err) == (2, True), err
    fifo.unlink()
    fifo.symlink_to("nothing")
    assert home.call(*TEST)[0] == 0


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
        process.communicate(timeout=60)
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
        process.communicate(timeout=60)


def test_watched_tests_send_no_requests(home: Home, project: Project) -> None:
    project.case(head=PLAIN)
    code, _, err = home.call("test", "--watch", "--live")
    assert (code, "--watch replays recordings" in err) == (2, True)


def test_check_reports_tests_of_missing_agents(home: Home, project: Project) -> None:
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
