"""`axe-lsp test --live`: rates, models that are compared, costs."""

from __future__ import annotations

import json

from support.agent_tests import HEAD, JUDGE, TEST, Project
from support.command_line import Home
from support.scripted_provider import Says, ScriptedProvider


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


def test_allow_needs_real_answers(home: Home, project: Project) -> None:
    project.case()

    code, _, err = home.call(*TEST, "--allow", "write_file(*.md)")

    assert code == 2
    assert "--allow needs --live or --record" in err


def test_unknown_cost_is_reported(home: Home, project: Project, provider: ScriptedProvider) -> None:
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


def test_known_part_of_a_cost_counts_for_the_limit(
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
