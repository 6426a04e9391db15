"""`axe-lsp help`: the documentation in the terminal. The wheel has it in `axe_lsp/manual`, a checkout in `docs`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.examples import EXAMPLES
from axe_lsp.cli.streams import columns_of, is_coloured, obeys_escapes, rows_of
from axe_lsp.runtime.errors import ConfigError

_PACKAGE = Path(__file__).parents[1]


def main(arguments: Sequence[str]) -> int:
    """Print a page, or the list of pages; returns the exit code. Raises ConfigError for a topic that there is not."""
    topic = _parser().parse_args(arguments).topic
    pages = {path.stem: path for path in _folder().glob("*.md")}
    if topic is None:
        width = max(map(len, pages), default=0) + 2
        for name in sorted(pages):
            print(f"{name:<{width}}{_title(pages[name])}")
        return 0
    name = topic.removesuffix(".md").removeprefix("docs/")
    if name in EXAMPLES and name not in pages:
        return _show_command(name)
    if name not in pages:
        near = nearest(name, [*pages, *EXAMPLES])
        hint = f"Did you mean `{near}`?" if near else "`axe-lsp help` lists the topics."
        raise ConfigError(f"there is no page about {quoted(topic)}", hint=hint)
    _show(_rendered(pages[name].read_text("utf-8")))
    return 0


def _show(text: str) -> None:
    """Print a text; on a terminal with fewer rows in the person's pager."""
    pager = _pager() if text.count("\n") >= rows_of(sys.stdout) else []
    try:
        if pager:
            _page(text, pager)
            return
    except OSError:  # There is no such program.
        pass
    print(text, end="")


def _pager() -> list[str]:
    """Return the command of the pager, `PAGER` or less; an empty one where there is no terminal for it."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        return []
    command = os.environ.get("PAGER")
    if command is not None:
        # Imported late: hardly anybody sets it.
        import shlex

        return shlex.split(command)
    return ["less"] if shutil.which("less") and obeys_escapes(sys.stdout, os.environ) else []


def _page(text: str, pager: Sequence[str]) -> None:
    """Show a text in a pager. Raises OSError if it can't be started."""
    # As git does: colours are shown, and the last page stays on the screen.
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    sys.stdout.flush()
    process = subprocess.Popen(pager, stdin=subprocess.PIPE, env=environment)
    with suppress(BrokenPipeError), process:  # Closing its input flushes it again.
        assert process.stdin is not None
        with suppress(BrokenPipeError, KeyboardInterrupt):  # The person has seen enough.
            process.stdin.write(text.encode())
            process.stdin.close()
        while process.poll() is None:
            with suppress(KeyboardInterrupt):  # It is the pager's, too, which decides.
                process.wait()


def _show_command(name: str) -> int:
    """Print the help of a command, which ends the process as `--help` does."""
    from axe_lsp.cli.main import main as execute

    return execute([name, "--help"])


def _folder() -> Path:
    own = _PACKAGE / "manual"
    return own if own.is_dir() else _PACKAGE.parents[1] / "docs"


def _title(page: Path) -> str:
    match = re.search(r"^# (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return match[1] if match else ""


def _rendered(text: str) -> str:
    """Return the page as the terminal shows Markdown, without comments and pictures; as it is in a pipe."""
    text = re.sub(r"<!--.*?-->\n*", "", text, flags=re.DOTALL)
    text = re.sub(r"^!\[.*\]\(.*\)\n*", "", text, flags=re.MULTILINE)
    if not is_coloured(sys.stdout, os.environ):
        return text
    # Imported late: only terminals need it.
    from axe_lsp.cli.markdown import MarkdownStream

    stream = MarkdownStream(partial(columns_of, sys.stdout), wraps=sys.stdout.isatty())
    return stream.feed(text) + stream.end()


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp help",
        description="Show a page of the documentation, or the help of a command. Without a topic, list the pages. Long pages open in the pager: `PAGER`, or less.",
    )
    parser.add_argument(
        "topic", metavar="TOPIC", nargs="?", help="a page such as `providers`, or a command"
    )
    return parser
