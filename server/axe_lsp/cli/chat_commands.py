"""The commands that a person types in `axe-lsp chat`: `/help`, `/model` and so on."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import fill
from types import MappingProxyType

from msgspec import Struct

from axe_lsp.agentfile.schema.models import MODELS
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.cli import undo
from axe_lsp.cli.conversation import Conversation
from axe_lsp.cli.line_editor import Offer
from axe_lsp.cli.mentions import path_offers
from axe_lsp.cli.streams import columns_of
from axe_lsp.cli.text_width import dollars
from axe_lsp.hosting.history.former_runs import undoable
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.resuming.saved_files import plan_undo

_COMMAND = re.compile(r"/(\w+)(?:\s+(.*))?\Z", re.DOTALL)
"""A path such as `/usr/bin` is no command but the beginning of a message."""


_KEYS = (
    "Enter sends; Alt-Enter, Ctrl-J, or \\ before Enter begin a new line. "
    "Ctrl-C stops an answer or clears the line; twice on an empty line it ends."
)

_NARROWEST = 30
"""Columns below which lines of `/help` are not broken any more."""


class ChatCommand(Struct, frozen=True):
    """A command. `execute` gets its argument, "" if there is none, prints what a person wants to know, and may raise RunError."""

    help: str
    execute: Callable[[Conversation, str], object]
    argument: str = ""
    arguments: Callable[[Conversation], Sequence[str]] = lambda _: ()


def execute(message: str, conversation: Conversation) -> bool:
    """Execute a message that is a command; return whether it is one. Raises RunError, and EOFError for `/exit`."""
    match = _COMMAND.fullmatch(message)
    if match is None:
        return False
    if (command := COMMANDS.get(match[1])) is None:
        near = nearest(match[1], COMMANDS)
        hint = f"Did you mean `/{near}`?" if near else "`/help` lists the commands."
        raise ConfigError(f"there is no command `/{match[1]}`; nothing was sent", hint=hint)
    argument = (match[2] or "").strip()
    if argument and not command.argument:
        raise ConfigError(f"`/{match[1]}` takes no argument; nothing was sent")
    command.execute(conversation, argument)
    return True


def offers(before: str, conversation: Conversation) -> Iterator[Offer]:
    """Yield completions of commands, their arguments, and mentioned files for the text `before` the cursor."""
    name, has_argument, argument = before.partition(" ")
    if not before.startswith("/") or "\n" in before:
        yield from path_offers(before, conversation.folder)
    elif not has_argument:
        for each, command in COMMANDS.items():
            if each.startswith(name[1:]):
                yield Offer(f"/{each}", len(name), command.help)
    elif name[1:] in COMMANDS:
        for value in COMMANDS[name[1:]].arguments(conversation):
            if value.startswith(argument):
                yield Offer(value, len(argument))


def _help(_conversation: Conversation, _argument: str) -> None:
    listed = {f"/{name} {each.argument}".rstrip(): each.help for name, each in COMMANDS.items()}
    width = max(columns_of(sys.stdout) - 1, _NARROWEST)
    indent = " " * (max(map(len, listed)) + 2)
    for name, help_ in {**listed, "@path": "attach a file below the agent's folder"}.items():
        print(fill(help_, width, initial_indent=name.ljust(len(indent)), subsequent_indent=indent))
    print(fill(_KEYS, width))


def _exit(_conversation: Conversation, _argument: str) -> None:
    raise EOFError


def _model(conversation: Conversation, name: str) -> None:
    if not name:
        print(f"The model is {visible(conversation.require())}. `/model PROVIDER/NAME` changes it.")
        return
    model = conversation.change(model="" if name == "default" else name)
    print(f"The model is now {visible(model)}.")


def _agent(conversation: Conversation, name: str) -> None:
    if not name:
        print(f"The agent is {visible(conversation.agent)}. `/agent NAME` changes it:")
        print("  " + "\n  ".join(map(visible, conversation.agent_names)))
        return
    model = conversation.change(agent=name)
    print(f"The agent is now {visible(name)}, with the model {visible(model)}.")


def _cost(conversation: Conversation, _argument: str) -> None:
    used = conversation.used
    price = "price not known" if used.cost is None else dollars(used.cost)
    print(f"{used.input_tokens:,} tokens in, {used.output_tokens:,} tokens out, {price}")


def _undo(conversation: Conversation, _argument: str) -> None:
    if not conversation.former:
        raise ConfigError("there is no answer yet whose changes could be undone")
    plans = plan_undo(undoable(conversation.former).known)
    if undo.main([conversation.former]) == 0 and plans:
        conversation.note = "(The user has undone the changes of files of the last answer.)"
        print("Your next message tells the agent so.")


def _tools(conversation: Conversation, _argument: str) -> None:
    tools = conversation.prepared().request.tools
    print("\n".join(visible(tool.name) for tool in tools) or "The agent has no tools.")


def _files(conversation: Conversation, _argument: str) -> None:
    own = [visible(file.path) for file in conversation.prepared().prompt.files]
    attached = [f"{visible(path)} (attached)" for path in conversation.attached]
    print("\n".join([*own, *attached]) or "No files. `@path` in a message attaches one.")


def _new(conversation: Conversation, _argument: str) -> None:
    conversation.begin_anew()
    print("A new conversation.")


COMMANDS: Mapping[str, ChatCommand] = MappingProxyType(
    {
        "help": ChatCommand("list the commands", _help),
        "exit": ChatCommand("end the conversation, as Ctrl-D does", _exit),
        "new": ChatCommand("begin a new conversation", _new),
        "model": ChatCommand(
            "show or change the model",
            _model,
            "[NAME]",
            lambda _: ("default", *map(str, MODELS)),
        ),
        "agent": ChatCommand(
            "show or change the agent", _agent, "[NAME]", lambda chat: chat.agent_names
        ),
        "cost": ChatCommand("show what this conversation has cost", _cost),
        "undo": ChatCommand("put back the files that the last answer has changed", _undo),
        "tools": ChatCommand("list the tools of the agent", _tools),
        "files": ChatCommand("list the files that the agent is shown", _files),
    }
)
"""The commands by name."""
