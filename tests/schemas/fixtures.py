"""Files to judge twice: those of the other tests, the demo's, and every key set to all sorts of values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType

import tomli

from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeySpec, KeyType, Schema
from support.carets import source
from support.findings import HEAD

ROOT = Path(__file__).parents[2]
_CHECKS = ("check_problems", "check_findings")
_SOURCES = ("tests/agentfile", "tests/features/rules")

VALUES = (
    '""',
    '" "',
    '"text"',
    '"openai/gpt"',
    '"google/gemini"',
    '"antropic/claude"',
    '"read_file"',
    '"http://localhost:1/"',
    '" https://host"',
    '"ftp://host"',
    '"https://"',
    "-1",
    "0",
    "3",
    "6",
    "99",
    "0.5",
    "3.0",
    "inf",
    "true",
    "false",
    "1979-05-27",
    "[]",
    '["text"]',
    '["read_file", "web_*", "Bash"]',
    "[1]",
    "[{}]",
    '["text", { name = "text" }]',
    '["text", { name = 1 }]',
    "{}",
    '{ text = "text" }',
    "{ text = 1 }",
    '{ text = { contains = ["a"] } }',
    "{ text = { matches = 1 } }",
    '"openai/\\n"',
    '"http://\\n"',
    '"json_schema"',
    '{ type = "json_schema" }',
    '{ type = "json_schema", schema = true }',
    '{ type = "strin" }',
    '{ type = "array" }',
    '{ type = ["object", "null"] }',
    '{ dir = "" }',
    '{ dir = "a" }',
    '{ enabled = false, dir = "a" }',
    '{ enabled = true, dir = "a" }',
    '{ enabled = true, dir = "../a" }',
)

OF_SCHEMAS = (
    *(value for value in VALUES if value != "inf"),
    '"#"',
    '"#/$defs/none"',
    '"other.json"',
    '"a1"',
    '"1a"',
    '["text", "text"]',
    "[true, {}]",
    '["string", "null"]',
    '["string", "strin"]',
    "{ text = [1] }",
    '{ text = ["a", "a"] }',
    "{ text = true }",
    "{ text = { minLength = -1 } }",
    '[{ items = { type = "strin" } }]',
)
"""What stands in `[input]` and `[output]`."""


@cache
def agent_files() -> dict[str, str]:
    """TOML texts by where they are from, each with the keys that every agent needs."""
    demo = (ROOT / "server/axe_lsp/demo").glob("*/axe/agents/*.toml")
    found = {path.name: path.read_text("utf-8") for path in demo}
    for folder in _SOURCES:
        for path in sorted((ROOT / folder).rglob("test_*.py")):
            for line, text in _fixtures_in(path):
                found[f"{path.name}:{line}"] = text
    return {name: text for name, text in found.items() if _is_toml(text)}


def _fixtures_in(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings that a test file hands to the helpers which put HEAD before them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        text = node.args[0]
        if node.func.id in _CHECKS and isinstance(text, ast.Constant):
            yield node.lineno, HEAD + source(str(text.value))


def set_to(schema: Schema, spec: KeySpec, value: str) -> str:
    """Return a file with what is required and one key set to `value`, in its table and those above."""
    lines: dict[tuple[str, ...], dict[str, str]] = {
        spec.path[:depth]: {} for depth in range(len(spec.path))
    }
    for table, keys in lines.items():
        for key in schema.keys_of(table):
            if key.required and key.path != spec.path[: len(key.path)]:
                keys[key.path[-1]] = _GOOD[key.path[-1]]
    lines[spec.path[:-1]][spec.path[-1]] = value
    return "".join(_table(schema, path, keys) for path, keys in lines.items())


_GOOD = MappingProxyType(
    {
        "name": '"main"',
        "model": '"openai/gpt"',
        "url": '"http://host"',
        "transport": '"sse"',
        "agent": '"main"',
        "calls": "[]",
        "criteria": '"Good."',
    }
)
"""For the keys that are required."""


def _table(schema: Schema, path: tuple[str, ...], keys: dict[str, str]) -> str:
    spec = schema.find(path) if path else None
    brackets = "[[{}]]" if spec is not None and spec.type is KeyType.TABLES else "[{}]"
    header = brackets.format(".".join(path)) + "\n" if path else ""
    text = header + "".join(f"{key} = {value}\n" for key, value in keys.items())
    return (
        text.replace(ANY_NAME + "]", "openai]")
        .replace(f".{ANY_NAME}", ".openai")
        .replace(f"{ANY_NAME} = ", "openai = ")
    )


def _is_toml(text: str) -> bool:
    try:
        tomli.loads(text)
    except tomli.TOMLDecodeError:
        return False
    return True
