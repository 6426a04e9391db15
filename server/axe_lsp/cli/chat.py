"""`axe-lsp chat`: a conversation with an agent at the terminal, or a message for each line of a pipe."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from axe_lsp.cli import interruption
from axe_lsp.cli.arguments import Parser, add_agent, add_permissions
from axe_lsp.cli.run_report import tell_how_to_go_on
from axe_lsp.cli.streams import columns_of, complain, print_message
from axe_lsp.cli.text_width import cut
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.queries import named_or_newest
from axe_lsp.runtime.agent_search import spellings
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.plain_text import visible

if TYPE_CHECKING:
    from axe_lsp.cli.conversation import Conversation
    from axe_lsp.cli.line_editor import LineEditor

_SIGNALS = 128
"""Exit codes above are those of processes that a signal has ended."""

_INTERRUPTED = _SIGNALS + signal.SIGINT
"""The exit code after Ctrl-C, which at a terminal stops an answer, not the conversation."""


def main(arguments: Sequence[str]) -> int:
    """Send messages until the end of the input; returns the exit code of the last one."""
    options = _parser().parse_args(arguments)
    options.stream = sys.stdout.isatty()
    # Imported late: `--help` needs none of it.
    from axe_lsp.cli.conversation import Conversation

    conversation = Conversation(options, _former(options))
    model = conversation.require()
    if sys.stdin is not None and sys.stdin.isatty():
        code = _talk(conversation, model, is_plain=options.plain)
    else:
        code = _send_lines(conversation, options)
    if conversation.former:
        go_on = f"axe-lsp chat {quote(conversation.agent)} --continue"
        tell_how_to_go_on(go_on, conversation.former)
    return code


def _send_lines(conversation: Conversation, options: argparse.Namespace) -> int:
    """Send each line of a pipe as it is, without commands and files."""
    code = 0
    for line in sys.stdin or ():
        if not line.strip():
            continue
        code = conversation.answer(line.strip())
        if code == 0 and not options.stream:  # Answers in a pipe are lines as well.
            print(flush=True)
        if code > _SIGNALS:
            break
    return code


def _talk(conversation: Conversation, model: str, *, is_plain: bool) -> int:
    from axe_lsp.cli.chat_commands import execute, offers
    from axe_lsp.cli.line_editor import messages_file, open_editor

    editor = open_editor(
        partial(offers, conversation=conversation),
        messages_file(os.environ),
        known_secrets(os.environ),
        os.environ,
        is_plain=is_plain,
    )
    _show_banner(conversation, model)
    code = 0
    for message in _typed_messages(editor, conversation):
        try:
            if not execute(message, conversation):
                code = conversation.send(message)
                interruption.go_on()
        except EOFError:
            break
        except KeyboardInterrupt:  # Between the end of an answer and the next prompt.
            continue
        except RunError as error:
            complain(error)
        if code > _SIGNALS and code != _INTERRUPTED:
            break
    return code


def _typed_messages(editor: LineEditor, conversation: Conversation) -> Iterator[str]:
    """Yield what the person types, until Ctrl-D, or Ctrl-C twice on an empty line."""
    was_interrupted = False
    while True:
        try:
            message = editor.read(conversation.take_draft())
        except EOFError:
            return
        except KeyboardInterrupt:
            if was_interrupted:
                return
            was_interrupted = True
            print_message("Ctrl-C again, or Ctrl-D, ends the conversation.")
            continue
        was_interrupted = False
        if message:
            yield message


def _show_banner(conversation: Conversation, model: str) -> None:
    """Show in two lines, cut to the width, whom one talks with, and the keys."""
    width = columns_of(sys.stderr) - 1
    going_on = " · goes on" if conversation.former else ""
    print(
        cut(f"{visible(conversation.agent)} · {visible(model)}{going_on}", width), file=sys.stderr
    )
    keys = "/help · @file attaches · Ctrl-J new line · Ctrl-C stops · Ctrl-D ends"
    print(cut(keys, width), file=sys.stderr, flush=True)


def _former(options: argparse.Namespace) -> str:
    """Return the id of the run to go on with, "" for a new conversation. Raises RunError."""
    if options.continue_ is None:
        return ""
    with opened_history() as connection:
        return named_or_newest(
            connection, options.continue_, spellings("."), "kept", options.agent
        )[1]


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp chat",
        description="Talk with an agent. At a terminal, `/help` lists commands; in a pipe, each line is a message.",
    )
    add_agent(parser)
    parser.add_argument(
        "--continue",
        dest="continue_",
        metavar="RUN",
        nargs="?",
        const="",
        help="go on with the conversation of a past run (default: the agent's newest in this folder)",
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="read whole lines and repaint nothing, as a screen reader needs it, and where TERM=dumb",
    )
    add_permissions(parser, go_on="")
    return parser
