"""A service may refuse to read again what its model has thought: the run goes on without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.runtime.errors import ProviderError
from support.answers import Dialect
from support.engines import agent, bench
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider

BOUND = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
    "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
    '"drop_block". That setting requires the `thinking-binding-controls-2026-08-01` value in the '
    "`anthropic-beta` header."
)
MODIFIED = (
    "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "
    "cannot be modified. These blocks must remain as they were in the original response."
)
LOOK = Says(thinking="secret thoughts", calls=[Call("list_directory", {"path": "."})])
TOLD = "the model m-solo can't read its earlier reasoning any more, so the run goes on without it"

REFUSALS: list[tuple[Dialect, Refuses]] = [
    ("anthropic", Refuses(400, BOUND)),
    ("anthropic", Refuses(400, MODIFIED)),
    ("bedrock", Refuses(400, "messages.1.content.0: Invalid `signature` in `thinking` block")),
    ("openai", Refuses(400, f"Provider returned error: {BOUND}")),
    ("google", Refuses(400, "Corrupted thought signature.")),
    ("responses", Refuses(404, "Item with id 'rs_1' not found. Items are not persisted.")),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("dialect", "refusal"), REFUSALS)
async def test_thoughts_that_are_refused_are_not_sent_again_and_later_ones_are(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, refusal: Refuses, stream: bool
) -> None:
    later = Says(thinking="later thoughts", calls=LOOK.calls)
    provider.script("m-solo", LOOK, refusal, later, Says("done"))
    agents = agent("solo", dialect, tools=["list_directory"])
    async with bench(provider, tmp_path, agents, streams=lambda _: stream) as work:
        assert (await work.run("solo")).content == "done"
        assert work.warnings == [TOLD]
    _, refused, again, last = (each.raw for each in provider.requests)
    signed = {"google": b"c2VjcmV0IHRob3VnaHRz"}.get(dialect, b"secret thoughts")
    assert [signed in each for each in (refused, again, last)] == [True, False, False]
    later_signed = {"google": b"bGF0ZXIgdGhvdWdodHM"}.get(dialect, b"later thoughts")
    assert later_signed in last
    assert again.count(b"list_directory") == refused.count(b"list_directory")


async def test_thoughts_behind_a_shortened_result_may_be_refused(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """Claude binds them to all that was said before (5.1 and later)."""
    (tmp_path / "a").write_text("long\n" * 3000)

    def reads(thought: str) -> Says:
        return Says(thinking=thought, calls=[Call("read_file", {"path": "a"})])

    too_long = Refuses(400, "prompt is too long: 208310 tokens > 200000 maximum")
    provider.script("m-solo", reads("one"), reads("two"), too_long, Refuses(400, BOUND), Says("ok"))
    agents = agent("solo", "anthropic", tools=["read_file"])
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "ok"
        assert work.warnings == [TOLD]
    last = provider.requests[-1].raw
    assert b"of one" not in last
    assert b"were left out, since the conversation" in last


async def test_what_has_no_thoughts_is_not_sent_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(400, BOUND), Says("never"))
    async with bench(provider, tmp_path, agent("solo", "anthropic")) as work:
        with pytest.raises(ProviderError, match="bad_request"):
            await work.run("solo")
    assert len(provider.requests) == 1
