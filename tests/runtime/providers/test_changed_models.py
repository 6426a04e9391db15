"""A conversation that goes on with a model of another wire, and with the first one again: all pairs of wires.

The scripted provider refuses what the service of a wire refuses (`support/wire_rules.py`).
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.prepare import root_order
from axe_lsp.runtime.resuming.previous_run import before, continued, forked
from axe_lsp.runtime.run_log import Key, Known, Log, RunLog, encoded
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import Order, RunRequest
from support.engines import Bench, agent, bench
from support.scripted_provider import Call, Says, ScriptedProvider
from support.wire_rules import refusal

PROVIDERS = (
    *("anthropic", "openai", "responses", "ollama", "google", "bedrock"),
    *("mistral", "deepseek"),  # Services of the chat wire with further rules.
)

IDS = {
    "anthropic": "toolu_{}" + "a" * 50,
    "bedrock": "tooluse_{}" + "b" * 40,
    "google": "functions.read:{}",
    "mistral": "abcdefg{:02}",
}
"""The form of the ids of a service, which the next one may refuse. Ollama gives none."""


def thoughts(provider: str) -> str:
    return "" if provider == "mistral" else f"thoughts of {provider}"


def calls(provider: str, number: int) -> Says:
    """Return an answer with a blank text, and calls of a tool and of one that does not exist."""
    form = IDS.get(provider, "call_{}")
    reads = Call("read_file", {"path": "note.txt"}, form.format(number))
    unknown = Call("no such.tool", {"input": {"id": "x"}}, form.format(number + 1))
    return Says(" ", [reads, unknown], thinking=thoughts(provider))


@dataclass
class Kept:
    """The steps of all runs. It is a `StepSink`."""

    steps: dict[Key, str] = field(default_factory=dict)

    def keep(self, step: Step) -> None:
        self.steps[step.run_id, step.turn, step.call, step.kind] = step.data

    async def committed(self, root: str) -> None:
        """They are kept at once."""

    def log(self, run: str) -> RunLog:
        return Log(known=Known(dict(self.steps))).of(RunIds(run, run, "solo"))


@dataclass
class Conversation:
    """Runs of one conversation, each with the first or the second provider's model."""

    provider: ScriptedProvider
    work: Bench
    kept: Kept
    runs: int = 0
    given: Counter[str] = field(default_factory=Counter)  # Calls with ids, by service.

    async def run(self, service: str, known: Known | None = None) -> None:
        """Let a model call tools twice and answer."""
        turns = max((key[1] for key in (known or Known()).steps), default=0)
        for _ in range(turns, 2):
            self.provider.script(f"m-{service}", calls(service, self.given[service]))
            self.given[service] += 2
        self.provider.script(f"m-{service}", Says("It is x.", thinking=thoughts(service)))
        self.runs += 1
        request = self._request(service)
        result = await self.work.engine.run(request, self._id(self.runs), known=known)
        assert result.content == "It is x."

    async def continue_with(self, service: str) -> None:
        """Go on with a further message, as `run --continue --model`."""
        first = await continued(self._former, self._order(service))
        await self.run(service, Known({(self._id(self.runs + 1), 0, "", "first"): encoded(first)}))

    async def reply_with(self, service: str) -> None:
        """Go on with a further message in a session, as `chat`, ACP and editors do."""
        await self.run(service, Known(before=await before(self._former)))

    async def fork_with(self, service: str) -> None:
        """Go on from the second turn of the last run, as `resume --from-turn 2 --model`."""
        run = self._id(self.runs + 1)
        first, steps = forked(self._former, self._order(service), 2)
        for step in steps:
            self.kept.keep(step)
        known = {(run, step.turn, step.call, str(step.kind)): step.data for step in steps}
        await self.run(service, Known({(run, 0, "", "first"): encoded(first), **known}))

    @property
    def _former(self) -> RunLog:
        return self.kept.log(self._id(self.runs))

    def _order(self, service: str) -> Order:
        run = self._id(self.runs + 1)
        return root_order(self._request(service), self.work.workspace, self.work.environment, run)

    def _request(self, service: str) -> RunRequest:
        return RunRequest("solo", "go", model=f"{service}/m-{service}")

    def _id(self, number: int) -> str:
        return f"{number:032}"


@pytest.mark.parametrize("second", PROVIDERS)
@pytest.mark.parametrize("first", PROVIDERS)
async def test_conversation_goes_on_with_another_model_and_back(
    provider: ScriptedProvider, tmp_path: Path, first: str, second: str
) -> None:
    provider.rules = refusal
    (tmp_path / "note.txt").write_text("hello")
    kept = Kept()
    agents = {**agent("solo", first, tools=["read_file"]), **agent("other", second)}
    environment = {"MISTRAL_API_KEY": "key", "DEEPSEEK_API_KEY": "key"}
    environment |= dict.fromkeys(("AXE_MISTRAL_BASE_URL", "AXE_DEEPSEEK_BASE_URL"), provider.url)
    async with bench(provider, tmp_path, agents, environment, steps=kept) as work:
        conversation = Conversation(provider, work, kept)
        await conversation.run(first)
        for go_on in (
            conversation.fork_with,
            conversation.continue_with,
            conversation.reply_with,
        ):
            await go_on(second)
            await go_on(first)
    if first != second:
        for service, other in ((first, second), (second, first)):
            own = thoughts(service).encode() or b"no thoughts"
            signed = b64encode(own).rstrip(b"=")
            sent = [request.raw for request in provider.asked(f"m-{other}")]
            assert not any(own in each or signed in each for each in sent)
