"""`axe-lsp test --format`: text, JSON, JUnit and GitHub."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from jsonschema import Draft202012Validator

from support.agent_tests import HEAD, PLAIN, TEST, Project
from support.command_line import Home
from support.scripted_provider import Refuses, Says, ScriptedProvider

JUNIT = Path(__file__).parents[1] / "schemas" / "junit"
"""The schemas that readers of JUnit's XML have published, each with its licence."""


def test_each_format_has_the_place_of_a_failure(home: Home, project: Project) -> None:
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
def test_control_characters_of_files_and_recordings_are_escaped(
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


@pytest.mark.parametrize("format_", ["text", "json", "junit", "github"])
def test_project_without_tests_passes_only_with_the_option_for_it(home: Home, format_: str) -> None:
    assert home.call("test", "--format", format_)[0] == 2
    code, out, told = home.call("test", "--if-any", "--format", format_)
    assert (code, told) == (0, "there are no tests of agents in this project\n")
    if format_ == "junit":
        assert list(ElementTree.fromstring(out)) == []
