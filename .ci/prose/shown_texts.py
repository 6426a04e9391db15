"""Prints the texts that the code shows to people, one per line with its place, for the linter of prose.

    python .ci/prose/shown_texts.py server/axe_lsp vscode-extension/src vscode-extension/package.json clients

These are the string literals of at least three words: of Python without docstrings, of TypeScript, Lua, Emacs Lisp
(with docstrings, which `C-h f` shows), and of JSON.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TYPESCRIPT_STRING = re.compile(
    r"'((?:[^'\\\n]|\\.)+)'|\"((?:[^\"\\\n]|\\.)+)\"|`((?:[^`\\]|\\.)+)`"
)
LUA_STRING = re.compile(r"'((?:[^'\\\n]|\\.)+)'|\"((?:[^\"\\\n]|\\.)+)\"")
LISP_STRING = re.compile(r';[^\n]*|\?\\?.|"((?:[^"\\]|\\.)*)"', re.DOTALL)
JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
PATTERNS = {
    ".el": LISP_STRING,
    ".json": JSON_STRING,
    ".lua": LUA_STRING,
    ".ts": TYPESCRIPT_STRING,
}
LEAST_WORDS = 3


def main() -> None:
    for argument in map(Path, sys.argv[1:]):
        for path in sorted(argument.rglob("*")) if argument.is_dir() else [argument]:
            for line, text in texts_of(path):
                words = text.split()
                if len(words) >= LEAST_WORDS and text.isprintable():
                    print(f"{path}:{line}: {' '.join(words)}\n")  # noqa: T201


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a source file, each with its line; line ends are spaces."""
    if path.suffix == ".py":
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in docstrings:
                yield node.lineno, " ".join(node.value.split())
    elif path.suffix in PATTERNS:
        source = path.read_text("utf-8")
        for found in PATTERNS[path.suffix].finditer(source):
            text = next(filter(None, found.groups()), "")
            if path.suffix == ".json":
                text = json.loads(found[0])
            yield source.count("\n", 0, found.start()) + 1, " ".join(text.split())


if __name__ == "__main__":
    main()
