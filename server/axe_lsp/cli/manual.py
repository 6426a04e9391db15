"""`axe-lsp help`: the documentation in the terminal. The wheel has it in `axe_lsp/manual`, a checkout in `docs`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.examples import EXAMPLES
from axe_lsp.cli.streams import columns_of, is_coloured
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
    print(_rendered(pages[name].read_text("utf-8")), end="")
    return 0


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
    """The page as the terminal shows Markdown, without comments and pictures; as it is in a pipe."""
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
        description="Show a page of the documentation, or the help of a command. Without a topic, list the pages.",
    )
    parser.add_argument(
        "topic", metavar="TOPIC", nargs="?", help="a page such as `providers`, or a command"
    )
    return parser
