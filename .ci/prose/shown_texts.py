"""Prints the texts that the code shows to people, one per line with its place, for the linter of prose.

    python .ci/prose/shown_texts.py server/axe_lsp vscode-extension/src

These are the string literals of at least three words: of Python without docstrings, and of TypeScript.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TYPESCRIPT_STRING = re.compile(
    r"'((?:[^'\\\n]|\\.)+)'|\"((?:[^\"\\\n]|\\.)+)\"|`((?:[^`\\]|\\.)+)`"
)
LEAST_WORDS = 3


def main() -> None:
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).rglob("*")):
            for line, text in texts_of(path):
                words = text.split()
                if len(words) >= LEAST_WORDS and text.isprintable():
                    print(f"{path}:{line}: {' '.join(words)}\n")  # noqa: T201


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a source file, each with its line; line ends are spaces."""
    if path.suffix == ".py":
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in docstrings:
                yield node.lineno, " ".join(node.value.split())
    elif path.suffix == ".ts":
        source = path.read_text("utf-8")
        for found in TYPESCRIPT_STRING.finditer(source):
            text = next(filter(None, found.groups()))
            yield source.count("\n", 0, found.start()) + 1, " ".join(text.split())


if __name__ == "__main__":
    main()
