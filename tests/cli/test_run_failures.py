"""How `axe-lsp run` fails: in one line, with an exit code, and with what was paid for."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.answers import stream_chunks
from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import (
    Answer,
    Hold,
    Raw,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)


@pytest.mark.parametrize(
    ("agents", "arguments", "code", "message"),
    [
        ({}, ["nobody"], 2, "agent config not found: nobody"),
        ({"a": "name = "}, ["a"], 2, 'failed to parse agent config "a": line 1'),
        ({"a": ""}, ["a"], 2, "agent config missing required field: name"),
        (agent("a"), ["a", "--model", "x"], 1, 'invalid model format "x"'),
        (agent("a", model="nobody/x"), ["a"], 1, 'unsupported provider "nobody"'),
        (agent("a", skill="no"), ["a"], 2, "skill not found"),
        (agent("a", files=["["]), ["a"], 2, "invalid glob pattern"),
        (agent("a"), ["a", "--replay", "none.toml"], 2, "recording not found: none.toml"),
        (agent("a"), ["a", "--record", "no/such/file"], 2, "failed to write recording: "),
        (agent("a"), ["a", "--record", "."], 2, "failed to write recording: . is a folder"),
        (agent("a"), ["../a"], 2, "must not contain path separators"),
    ],
)
def test_error_is_one_line_with_its_exit_code(
    home: Home,
    provider: ScriptedProvider,
    agents: dict[str, str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    home.add(agents)
    result = home.call("run", *arguments)
    assert (result[0], result[1]) == (code, "")
    assert message in result[2]
    told = [line for line in result[2].splitlines() if "`axe-lsp check " not in line]
    assert len(told) == 1, "but for the place in an agent file, which axe does not name"
    assert provider.requests == []


@pytest.mark.req("001-13.5", "001-T2")
@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (Refuses(400, "no"), 1, "bad_request: no\n"),
        (Refuses(401, "no"), 3, "auth: no\n"),
        (Refuses(429, "no"), 3, "rate_limit: no\n"),
        (Refuses(529, "no"), 3, "overloaded: no\n"),
        (Raw(b"\0\xff garbage"), 3, "server: failed to parse response: "),
        (Raw(cut=0), 3, "server: the connection was closed before an answer arrived (openai at "),
    ],
)
def test_a_failing_provider_is_one_line_and_an_exit_code(
    home: Home, provider: ScriptedProvider, answer: Refuses | Raw, code: int, message: str
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Answer(answer, repeat=True))
    result = home.call("run", "solo")
    assert (result[0], result[1]) == (code, "")
    assert result[2].startswith(message)
    assert "Traceback" not in result[2]


def test_a_missing_key_is_exit_code_3(home: Home) -> None:
    home.add(agent("solo"))
    home.environment.pop("OPENAI_API_KEY")
    assert home.call("run", "solo")[0] == 3


@pytest.mark.parametrize("command", [["run", "solo"], ["check"]])
def test_a_deleted_working_directory_is_a_clear_error(home: Home, command: list[str]) -> None:
    gone = home.work / "gone"
    gone.mkdir()
    script = f'cd {gone} && rmdir {gone} && exec "$@"'
    result = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND, *command],
        env={**home.environment, "PYTHONPATH": str(Path(__file__).parents[2] / "server")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "failed to get working directory: it has been deleted" in result.stderr
    assert "Traceback" not in result.stderr


FINDER = agent("finder", output={"type": "object", "required": ["found"]})


def test_an_answer_that_does_not_fit_is_not_lost(home: Home, provider: ScriptedProvider) -> None:
    home.add(FINDER)
    provider.script("m-finder", *[Says("I found it in\nsrc/a.py.")] * 3)
    code, out, err = home.call("run", "finder")
    assert (code, out) == (1, "")
    error, *rest = err.split("\n")
    assert error.startswith("the answer does not fit [output]: ")
    assert rest == ["Its last answer was:", "", "I found it in", "src/a.py.", ""]


def test_an_answer_that_does_not_fit_is_in_json(home: Home, provider: ScriptedProvider) -> None:
    home.add(FINDER)
    provider.script("m-finder", *[Says('{"lost": 1}', usage=(1, 2))] * 3)
    code, out, err = home.call("run", "finder", "--json")
    assert (code, err) == (1, "the answer does not fit [output]: output.found is missing\n")
    answer = json.loads(out)
    assert answer["content"] == '{"lost": 1}'
    assert answer["error"] == {"kind": "agent", "message": err.strip(), "status": "failed"}
    assert (answer["input_tokens"], "output" in answer) == (3, False)


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["nobody"], 2, {"kind": "config", "message": "agent config not found: nobody"}),
        (
            ["lost"],
            2,
            {"kind": "config", "message": "the working directory {w}/gone does not exist"},
        ),
        (["bare", "--replay", "x"], 2, {"kind": "config", "message": "recording not found: x"}),
        (["bare", "--dry-run", "--model", "x"], 1, {"kind": "agent", "message": ...}),
    ],
)
def test_a_run_that_can_not_begin_is_an_object_of_json_too(
    home: Home, arguments: list[str], code: int, error: dict[str, Any]
) -> None:
    home.add(agent("lost", workdir="gone") | agent("bare"))
    outcome = home.call("run", *arguments, "--json")
    answer = json.loads(outcome[1])
    told = outcome[2].strip()
    expected = error["message"] if error["message"] is not ... else told
    assert outcome[0] == code
    assert answer["error"] == {
        "kind": error["kind"],
        "message": expected.format(w=home.work),
        "status": "failed",
    }
    assert answer["error"]["message"] == told
    assert (answer["content"], answer["input_tokens"]) == ("", 0)


def test_partial_answer_of_a_failed_run_is_printed(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo", sub_agents=["helper"]) | agent("helper"))
    call = calls_agent("helper", "t")
    for _ in range(2):
        provider.script(
            "m-solo", Says("First find.", calls=[call], usage=(3, 4)), Refuses(500, "x")
        )
        provider.script("m-helper", Says("r"))
    code, out, err = home.call("run", "solo", "--json")
    answer = json.loads(out)
    assert (code, err) == (3, "server: x\n")
    assert answer["error"] == {
        "kind": "api",
        "message": "server: x",
        "reason": "server",
        "status": "failed",
    }
    assert (answer["content"], answer["input_tokens"]) == ("First find.", 3)
    assert (answer["tool_calls"], len(answer["run_id"])) == (1, 32)
    told = "server: x\nIts last text, which is not a final answer, was:\n\nFirst find.\n"
    assert home.call("run", "solo") == (3, "", told)


def test_stopped_run_is_a_json_object_with_its_partial_answer(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", sub_agents=["helper"]) | agent("helper"))
    hold = Hold()
    provider.script("m-solo", Says("First find.", calls=[calls_agent("helper", "t")], usage=(3, 4)))
    provider.script("m-helper", Answer(Says("r"), hold=hold))
    with home.start("run", "solo", "--json") as process:
        hold.wait_until_arrived()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    answer = json.loads(out)
    assert process.returncode == 130
    assert answer["error"] == {"kind": "agent", "message": "cancelled", "status": "cancelled"}
    assert (answer["content"], answer["input_tokens"]) == ("First find.", 3)


def test_parent_gets_the_partial_answer_of_a_failed_child(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", sub_agents=["child"]))
    home.add(agent("child", sub_agents=["helper"]) | agent("helper"))
    provider.script("m-solo", Says(calls=[calls_agent("child", "t")]), Says("F"))
    provider.script("m-child", Says("Half.", calls=[calls_agent("helper", "t")]), Refuses(500, "x"))
    provider.script("m-helper", Says("r"))
    assert home.call("run", "solo") == (0, "F", "")
    told = provider.requests[-1].body["messages"][-1]["content"]
    assert told.startswith('Error: sub-agent "child" failed - server: x.')
    assert told.endswith("\n\nHalf.")


def test_a_reader_who_goes_away_ends_the_run_quietly(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    hold = Hold(chunk=3)
    provider.script("m-solo", Answer(Says("one two three"), hold=hold))
    with home.start("run", "solo", "--stream") as process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.stdout.close()
        hold.wait_until_arrived()
        hold.release()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(60) == 141


@pytest.mark.parametrize("place", ["flag", "file"])
@pytest.mark.parametrize("keys", [{}, {"tools": ["write_file"]}, {"files": ["*.md"]}])
def test_a_working_directory_that_is_not_there_is_an_error_for_every_agent(
    home: Home, provider: ScriptedProvider, place: str, keys: dict[str, object]
) -> None:
    gone = home.work / "gone"
    flags = ["--workdir", str(gone)] if place == "flag" else []
    home.add(agent("solo", **keys, **({"workdir": "gone"} if place == "file" else {})))
    message = f"the working directory {gone} does not exist\n"
    assert home.call("run", "solo", "--yes", *flags) == (2, "", message)
    assert not gone.exists()
    assert provider.requests == []


def test_a_child_without_its_working_directory_fails_and_its_parent_goes_on(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", sub_agents=["child"]) | agent("child", workdir="gone"))
    provider.script("m-solo", Says(calls=[calls_agent("child", "go")]), Says("without it"))
    assert home.call("run", "solo") == (0, "without it", "")
    told = provider.requests[-1].body["messages"][-1]["content"]
    assert f"the working directory {home.work}/gone does not exist" in told


def test_a_working_directory_that_is_a_file_is_called_one(home: Home) -> None:
    home.add(agent("solo", tools=["write_file"], workdir="taken"))
    (home.work / "taken").write_text("")
    message = f"the working directory {home.work}/taken is a file\n"
    assert home.call("run", "solo", "--yes") == (2, "", message)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("flags", [[], ["--stream"], ["--json"]])
def test_an_answer_that_cannot_be_written_is_an_error(
    home: Home, provider: ScriptedProvider, flags: list[str]
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("precious"))
    outcome = home.shell(f"run solo {' '.join(flags)} >/dev/full")
    assert outcome == (1, "", "axe-lsp: the output can't be written: No space left on device\n")


def test_streams_that_are_closed_lose_no_answer_unnoticed(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("answer"), Says("answer"))
    assert home.shell("run solo 2>&-") == (0, "answer", "")
    outcome = home.shell("run solo >&-")
    assert outcome == (1, "", "axe-lsp: the output can't be written: Bad file descriptor\n")


def test_a_timeout_that_no_clock_can_count_is_a_usage_error(home: Home) -> None:
    home.add(agent("solo"))
    code, out, err = home.call("run", "solo", "--timeout", "9" * 400)
    assert (code, out) == (1, "")
    assert "is too large: integers have 64 bits" in err


@pytest.mark.parametrize("seconds", ["-1", "soon", "1.5", ""])
def test_a_timeout_that_is_no_time_is_a_usage_error(home: Home, seconds: str) -> None:
    home.add(agent("solo"))
    code, out, err = home.call("run", "solo", f"--timeout={seconds}")
    assert (code, out) == (1, "")
    assert f"{seconds!r} is not a whole number of seconds from 0" in err


def test_streamed_text_is_not_printed_again_after_a_failure(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    body = b"".join(stream_chunks("openai", Says("one two three four"), "m"))
    media = {"content-type": "text/event-stream"}
    provider.script("m-solo", Raw(body, headers=media, cut=len(body) // 2))
    code, out, err = home.call("run", "solo", "-p", "go", "--stream")
    assert code == 3
    assert out.startswith("one")
    assert "Its last text" not in err


def test_unstreamed_text_is_printed_after_a_failure(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo", sub_agents=["helper"], output={"type": "object"}) | agent("helper"))
    provider.script("m-solo", Says("So far.", [calls_agent("helper", "t")]), Refuses(500, "x"))
    provider.script("m-helper", Says("r"))
    _, out, err = home.call("run", "solo", "-p", "go", "--stream")
    assert out == ""
    assert err.endswith("was:\n\nSo far.\n")
