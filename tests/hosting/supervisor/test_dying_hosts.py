"""Hosts that die, hang or talk nonsense: their runs end, and the next run gets a new one."""

import logging
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.protocol import Start, Workplace
from axe_lsp.hosting.supervisor.supervisor import Runs
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.runs import RunRequest
from support.hosts import MAIN, UNHURRIED, agent, stage
from support.scripted_provider import (
    Answer,
    Hold,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.team import TEAM, assert_gapless, both_at_work, ends


@pytest.mark.req("002-21")
async def test_a_killed_host_ends_its_runs_and_the_next_run_gets_a_new_one(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = await both_at_work(at, provider)
        os.kill(at.hosts()[0], signal.SIGKILL)

        with pytest.raises(RunError, match=r"signal 9 \(Killed\).*Run the agent again") as failure:
            await run.result()

        assert sorted(ends(at, run)[:2]) == [("left", "killed"), ("right", "killed")]
        assert ends(at, run)[2:] == [("lead", "killed")]
        assert_gapless(at, run)
        assert "signal 9" in at.of(run.id)[-1][1]["error"]
        assert {params["reason"] for _, params in at.of(run.id)[-3:]} == {"host"}
        partial = failure.value.partial
        assert failure.value.kind == "agent"
        assert partial is not None
        assert (partial.status, partial.content, partial.turns) == ("killed", "I ask both.", 1)
        assert (partial.input_tokens, partial.output_tokens) == (10, 5)

        provider.script("m-left", Says("again"))
        assert (await at.start("left").result()).content == "again"
        assert len(at.hosts()) == 2


async def test_a_killed_host_leaves_nothing_that_was_remembered_for_its_runs(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    memory = "[memory]\nenabled = true\nscope = 'run'\n"
    agents = {"lead": agent("lead", "left"), "left": agent("left") + memory}
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("left", "l")]), Answer(Says("x"), hold=hold))
    provider.script("m-left", Says("remembered"))
    async with stage(tmp_path, agents) as at:
        run = at.start("lead")
        await hold.arrived()
        (kept,) = (tmp_path / "cache" / "axe" / "memory").iterdir()
        assert "remembered" in kept.read_text()
        os.kill(at.hosts()[0], signal.SIGKILL)
        with pytest.raises(RunError, match="signal 9"):
            await run.result()
        assert not kept.exists()


async def test_an_order_that_a_dying_idle_host_has_not_read_goes_to_the_next_one(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("first"), Says("second"), Says("third"))
    async with stage(tmp_path, TEAM) as at:
        await at.start("left").result()
        os.kill(at.hosts()[0], signal.SIGSTOP)  # From now on it reads nothing.
        run, cancelled = at.start("left"), at.start("left")
        at.runs.cancel(cancelled.id)

        os.kill(at.hosts()[0], signal.SIGKILL)

        assert (await run.result()).content == "second"
        assert len(at.hosts()) == 2
        with pytest.raises(RunError):
            await cancelled.result()
        begins = [params for method, params in at.of(run.id) if params.get("kind") == "begin"]
        assert len([each for each in begins if "task" in each]) == 1
        assert len(provider.requests) == 2


async def test_a_host_that_hangs_is_noticed_and_replaced(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    patience = replace(UNHURRIED, heartbeat=0.1, silence=6, die=0.2)
    async with stage(tmp_path, TEAM, patience=patience) as at:
        run = await both_at_work(at, provider)
        os.kill(at.hosts()[0], signal.SIGSTOP)

        with pytest.raises(RunError, match="did not answer for 6 s and was ended by signal 9"):
            await run.result()

        assert len(ends(at, run)) == 3
        provider.script("m-left", Says("again"))
        assert (await at.start("left").result()).content == "again"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["/no/such/python"], "could not be started .*no/such/python"),
        (["python", "-c", "import os; os.write(2, b'no memory\\n'); os._exit(3)"], "3: no memory"),
    ],
)
async def test_a_host_that_does_not_come_up_fails_the_run_with_the_reason(
    command: Sequence[str], says: str
) -> None:
    runs = Runs(command, UNHURRIED)

    with pytest.raises(RunError, match=says):
        await runs.start(Start("r", RunRequest("any"), Workplace("/"))).result()
    await runs.close()


async def test_what_a_host_writes_to_its_errors_is_logged_without_secrets(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    key = provider.environment["ANTHROPIC_API_KEY"]
    program = f"import sys; sys.exit('the key is {key}')"
    async with stage(tmp_path, TEAM, program) as at:
        with pytest.raises(RunError, match=r"status 1: the key is \[redacted\]"):
            await at.start("left").result()

    assert "the key is [redacted]" in caplog.text
    assert key not in caplog.text


async def test_a_host_gets_keys_but_has_none_in_the_environment_that_others_see(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("well"))
    key = provider.environment["ANTHROPIC_API_KEY"]
    seen = tmp_path / "seen"
    look = f"import os; open({str(seen)!r}, 'wb').write(open('/proc/self/environ', 'rb').read())\n"
    async with stage(tmp_path, TEAM, look + MAIN) as at:
        assert (await at.start("left").result()).content == "well"
    assert b"PATH=" in seen.read_bytes()
    assert key.encode() not in seen.read_bytes()
    assert b"_BASE_URL" not in seen.read_bytes()  # By which the host has found the provider.


async def test_a_line_that_makes_no_sense_is_logged_and_survived(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.script("m-left", Says("well"))
    garbage = 'import os; os.write(1, b\'\\xff garbage\\n{"type":"event","params":{}}\\n\')\n'
    async with stage(
        tmp_path, TEAM, garbage + "from axe_lsp.hosting.host import host; host.main()"
    ) as at:
        assert (await at.start("left").result()).content == "well"

    assert "garbage" in caplog.text


NOISY = """
import os
from axe_lsp.hosting.host import host
hear = host.Host.hear
def noisy(self, line):
    print("a stray print")
    os.write(1, b"a stray write\\n")
    os.system("echo a stray echo; cat")
    hear(self, line)
host.Host.hear = noisy
host.main()
"""


async def test_what_is_printed_in_a_host_does_not_get_between_its_messages(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    provider.script("m-left", Says("well"))
    async with stage(tmp_path, TEAM, NOISY) as at:
        assert (await at.start("left").result()).content == "well"

    for stray in ("a stray print", "a stray write", "a stray echo"):
        assert f"run host: {stray}" in caplog.text
    assert "invalid message" not in caplog.text


async def test_a_host_imports_nothing_from_the_workspace(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.script("m-left", Says("well"))
    for module in ("json", "queue", "uuid", "httpcore2"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('run from the workspace')")
    async with stage(tmp_path, TEAM) as at:
        monkeypatch.chdir(tmp_path)
        runs = Runs(patience=UNHURRIED)
        result = await runs.start(Start("r", RunRequest("left"), at.workplace)).result()
        await runs.close()

        assert result.content == "well"
