"""What an agent has read is not overwritten once somebody else has changed it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.messages import Message, ToolCall, ToolResult
from axe_lsp.runtime.shortening import shortened
from axe_lsp.runtime.tools.paths import learn_files
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS

REFUSAL = "a.txt has changed since you read it and was not written; read it again first"


class Agent:
    """An agent that works in a folder with the file `a.txt`."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "a.txt"
        self.workplace = Workplace(folder, dict(os.environ))

    async def use(self, tool: str, **arguments: Any) -> Any:
        call = ToolCall("1", tool, {"path": "a.txt", **arguments})
        return await BUILTIN_TOOLS[tool].execute(call, self.workplace)

    async def rehearse(self, **arguments: Any) -> Any:
        """Say what `write_file` would do."""
        rehearse = BUILTIN_TOOLS["write_file"].rehearse
        assert rehearse is not None
        call = ToolCall("1", "write_file", {"path": "a.txt", **arguments})
        return await rehearse(call, self.workplace)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = Agent(tmp_path)
    agent.file.write_text("one\ntwo\n")
    return agent


@pytest.mark.parametrize("read", [{}, {"offset": "2"}, {"limit": "1"}])
async def test_file_changed_since_it_was_read_is_not_written(
    agent: Agent, read: dict[str, str]
) -> None:
    await agent.use("read_file", **read)
    agent.file.write_text("one\ntwo\nthree\n")
    with pytest.raises(ToolError, match=REFUSAL):
        await agent.use("write_file", content="four\n")
    assert agent.file.read_text() == "one\ntwo\nthree\n"


async def test_user_is_not_asked_about_file_changed_since_it_was_read(agent: Agent) -> None:
    await agent.use("read_file")
    agent.file.write_text("three\n")
    with pytest.raises(ToolError, match=REFUSAL):
        await agent.rehearse(content="four\n")


async def test_file_grown_beyond_ten_megabytes_is_written_only_after_it_was_read_again(
    agent: Agent,
) -> None:
    await agent.use("read_file")
    agent.file.write_text("one\ntwo\n" * 2_000_000)
    with pytest.raises(ToolError, match=REFUSAL):
        await agent.rehearse(content="four\n")
    with pytest.raises(ToolError, match=REFUSAL):
        await agent.use("write_file", content="four\n")
    await agent.use("read_file")
    await agent.use("write_file", content="four\n")
    assert agent.file.read_text() == "four\n"


async def test_large_file_changed_at_its_beginning_is_not_written(agent: Agent) -> None:
    agent.file.write_text("one\ntwo\n" * 2_000_000)
    await agent.use("read_file")
    agent.file.write_text("1\n" + "one\ntwo\n" * 2_000_000)
    with pytest.raises(ToolError, match=REFUSAL):
        await agent.use("write_file", content="four\n")


async def test_file_is_written_after_it_was_read_again(agent: Agent) -> None:
    await agent.use("read_file")
    agent.file.write_text("three\n")
    await agent.use("read_file")
    await agent.use("write_file", content="four\n")
    assert agent.file.read_text() == "four\n"


async def test_own_changes_of_file_are_no_reason_to_read_it_again(agent: Agent) -> None:
    await agent.use("read_file")
    await agent.use("edit_file", old_string="two", new_string="2")
    await agent.use("write_file", content="three\n")
    await agent.use("write_file", content="four\n")
    assert agent.file.read_text() == "four\n"


async def test_file_changed_since_it_was_written_is_not_written(agent: Agent) -> None:
    await agent.use("write_file", content="three\n")
    agent.file.write_text("four\n")
    with pytest.raises(ToolError, match=REFUSAL):
        await agent.use("write_file", content="five\n")


async def test_own_edit_does_not_hide_change_of_others(agent: Agent) -> None:
    await agent.use("read_file")
    agent.file.write_text("one\ntwo\nthree\n")
    await agent.use("edit_file", old_string="two", new_string="2")
    with pytest.raises(ToolError, match=REFUSAL):
        await agent.use("write_file", content="four\n")


async def test_new_line_endings_are_no_change(agent: Agent) -> None:
    await agent.use("read_file")
    agent.file.write_bytes(b"one\r\ntwo\r\n")
    await agent.use("write_file", content="three\n")
    assert agent.file.read_bytes() == b"three\r\n"


async def test_file_that_was_never_read_is_written(agent: Agent) -> None:
    await agent.use("write_file", content="three\n")
    assert agent.file.read_text() == "three\n"


async def test_file_that_is_gone_is_written(agent: Agent) -> None:
    await agent.use("read_file")
    agent.file.unlink()
    await agent.use("write_file", content="three\n")
    assert agent.file.read_text() == "three\n"


def told(tool: str, result: str, /, **arguments: str) -> tuple[Message, Message]:
    """Return a call of a former process and its result, as messages."""
    call = ToolCall("c", tool, {"path": "a.txt", **arguments})
    return (
        Message("assistant", tool_calls=(call,)),
        Message("tool", tool_results=(ToolResult("c", result),)),
    )


@pytest.mark.parametrize(
    ("former", "is_refused"),
    [
        (told("read_file", "1: one\n2: two"), False),
        (told("read_file", "1: one\n2: three"), True),
        (told("read_file", "2: two", offset="2"), False),
        (told("read_file", "2: three", offset="2"), True),
        (told("read_file", "1: [redacted]"), False),
        (told("read_file", "(this result was shortened)"), False),
        (told("write_file", "wrote 8 bytes", content="one\ntwo\n"), False),
        (told("write_file", "wrote 6 bytes", content="three\n"), True),
        (
            told("write_file", "wrote 6 bytes", content="three\n")
            + told("edit_file", "replaced 1 occurrence(s)", old_string="a", new_string="b"),
            False,
        ),
    ],
)
async def test_former_conversation_tells_whether_file_has_changed(
    agent: Agent, former: tuple[Message, ...], is_refused: bool
) -> None:
    learn_files(agent.workplace, former)
    if is_refused:
        with pytest.raises(ToolError, match=REFUSAL):
            await agent.rehearse(content="four\n")
        with pytest.raises(ToolError, match=REFUSAL):
            await agent.use("write_file", content="four\n")
    else:
        await agent.use("write_file", content="four\n")
    assert agent.file.read_text() == ("one\ntwo\n" if is_refused else "four\n")


async def test_former_read_of_another_file_with_the_same_call_id_is_kept_apart(
    agent: Agent,
) -> None:
    learn_files(
        agent.workplace,
        told("read_file", "1: one\n2: two") + told("read_file", "1: other", path="b.txt"),
    )
    await agent.use("write_file", content="four\n")
    assert agent.file.read_text() == "four\n"


async def test_former_read_that_was_shortened_tells_nothing_of_the_file(agent: Agent) -> None:
    agent.file.write_text("one\n" * 5000)
    whole = told("read_file", await agent.use("read_file"))
    short = shortened((*whole, *told("read_file", "1: x", path="b.txt")), 0, 1000)
    assert short is not None
    assert short.messages[1] != whole[1]
    resumed = Agent(agent.file.parent)
    learn_files(resumed.workplace, short.messages)
    await resumed.use("write_file", content="four\n")
    assert agent.file.read_text() == "four\n"
