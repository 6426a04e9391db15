"""The recorded behaviour of axe: one test per case. `README.md` describes the cases and their format."""

from __future__ import annotations

import base64
import json
import lzma
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.command_line import COMMAND
from support.scripted_provider import Answer, Raw, Received, Refuses, ScriptedProvider

LIMIT = 60
"""Seconds that a case may take."""

HEADERS = ("content-type", "x-api-key", "anthropic-version", "authorization")
"""The headers that are compared. A case may name more."""

FOLDERS = {
    "agents": "config/axe/agents",
    "config": "config/axe",
    "work": "work",
    "data": "data",
    "home": "home",
}
"""Where the files of each member of a case are written, below the root of its sandbox."""


class Matcher:
    """An expected value with an operator: `{"$OPERATOR": argument}` in the data. It equals what satisfies it."""

    __hash__ = None  # type: ignore[assignment]  # Equality is not transitive.

    def __init__(self, operator: str, argument: Any) -> None:
        self._operator = operator
        self._argument = argument

    def __eq__(self, value: object) -> bool:
        return _OPERATORS[self._operator](self._argument, value)

    def __repr__(self) -> str:
        return f"{self._operator} {self._argument!r}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_json(expected: Any, value: Any) -> bool:
    try:
        return bool(json.loads(value) == expected)
    except (TypeError, ValueError):
        return False


def _has_in_order(expected: list[Any], value: list[Any]) -> bool:
    rest = iter(value)
    return all(any(item == actual for actual in rest) for item in expected)


def _is_permutation(expected: list[Any], value: list[Any]) -> bool:
    rest = list(value)
    for item in expected:
        index = next((index for index, actual in enumerate(rest) if item == actual), None)
        if index is None:
            return False
        del rest[index]
    return not rest


_MISSING = object()
"""In place of the value of a key that an object does not have."""

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$any": lambda _, value: value is not _MISSING,
    "$re": lambda pattern, value: bool(re.fullmatch(pattern, value, re.DOTALL)),
    "$search": lambda pattern, value: bool(re.search(pattern, value)),
    "$contains": lambda text, value: value is not _MISSING and text in _text(value),
    "$lacks": lambda text, value: value is not _MISSING and text not in _text(value),
    "$one_of": lambda values, value: value in values,
    "$all": lambda matchers, value: all(matcher == value for matcher in matchers),
    "$json": _is_json,
    "$prefix_json": lambda pair, value: (
        value.startswith(pair[0]) and _is_json(pair[1], value[len(pair[0]) :])
    ),
    "$part": lambda part, value: (
        isinstance(value, dict)
        and all(item == value.get(key, _MISSING) for key, item in part.items())
    ),
    "$absent": lambda _, value: value is None or value is _MISSING,
    "$has": lambda items, value: all(any(item == actual for actual in value) for item in items),
    "$has_in_order": _has_in_order,
    "$unordered": _is_permutation,
    "$unordered_lines": lambda text, value: sorted(text.splitlines()) == sorted(value.splitlines()),
    "$count": lambda limits, value: limits[0] <= len(value) <= limits[1],
    "$between": lambda limits, value: limits[0] <= value <= limits[1],
}


def _decoded(members: dict[str, Any]) -> Any:
    operator = next(iter(members), "")
    return Matcher(operator, members[operator]) if operator in _OPERATORS else members


with lzma.open(Path(__file__).with_name("cases.jsonl.xz"), "rt", encoding="utf-8") as lines:
    CASES: list[dict[str, Any]] = [json.loads(line, object_hook=_decoded) for line in lines]


class Sandbox:
    """The folders of one case, and the provider that its requests go to."""

    def __init__(self, root: Path, provider: ScriptedProvider) -> None:
        self._root = root
        self._address = f"127.0.0.1:{provider.port}"
        for folder in FOLDERS.values():
            (root / folder).mkdir(parents=True, exist_ok=True)

    def fill(self, text: str) -> str:
        """Replace the placeholders of a recorded text by this sandbox's folder and address."""
        return text.replace("@ROOT@", str(self._root)).replace(
            "@PORT@", self._address.partition(":")[2]
        )

    def unfill(self, text: str) -> str:
        """Put the placeholders back."""
        return text.replace(str(self._root), "@ROOT@").replace(self._address, "127.0.0.1:@PORT@")

    def mask(self, text: str) -> str:
        """Replace what differs between runs: folder, address, durations, times, and the command's own name."""
        text = self.unfill(text)
        for pattern, masked in (
            (r"Duration: \d+ms", "Duration: Nms"),
            (r"completed in \d+ms", "completed in Nms"),
            (r'"duration_ms": ?\d+', '"duration_ms":0'),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "@TIME@"),
            (r"Run '[\w-]+ gc", "Run 'axe gc"),
            # axe and Python differ in how many they write for one broken sequence of bytes.
            ("\ufffd+", "\ufffd"),
            # axe sometimes logs the same failure of a sub-agent twice in a row.
            (r'(?m)^(\[sub-agent\] "[^"\n]*" failed: .*\n)\1+', r"\1"),
        ):
            text = re.sub(pattern, masked, text)
        return text

    def write(self, case: dict[str, Any]) -> None:
        """Write the files of a case."""
        for member, folder in FOLDERS.items():
            for name, content in case.get(member, {}).items():
                path = self._root / folder / (f"{name}.toml" if member == "agents" else name)
                path.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(content, str):
                    path.write_bytes(self.fill(content).encode())
                elif "base64" in content:
                    path.write_bytes(base64.b64decode(content["base64"]))
                elif "symlink" in content:
                    path.symlink_to(self.fill(content["symlink"]))
                else:
                    path.mkdir(exist_ok=True)

    def run(self, case: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
        """Run the command line of a case to its end."""
        environment = {
            "PATH": os.environ["PATH"],
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            "HOME": f"{self._root}/home",
            "XDG_CONFIG_HOME": f"{self._root}/config",
            "XDG_DATA_HOME": f"{self._root}/data",
            "ANTHROPIC_API_KEY": "key-anthropic",
            "OPENAI_API_KEY": "key-openai",
            **{
                f"AXE_{name}_BASE_URL": f"http://{self._address}"
                for name in ("ANTHROPIC", "OPENAI", "OLLAMA")
            },
            **case.get("env", {}),
        }
        text = case.get("stdin")
        return subprocess.run(
            [*COMMAND, *map(self.fill, case["argv"])],
            cwd=self._root / "work",
            env={key: self.fill(value) for key, value in environment.items() if value is not None},
            input=None if text is None else text.encode(),
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )

    def request(self, request: Received, more_headers: list[str]) -> dict[str, Any]:
        """Return what is compared of a request."""
        compared = (*HEADERS, *more_headers)
        headers = {key: value for key, value in request.headers.items() if key in compared}
        if "content-type" in headers:
            headers["content-type"] = headers["content-type"].partition(";")[0].lower()
        raw = re.sub("\ufffd+", "\ufffd", self.unfill(request.raw.decode("utf-8", "replace")))
        body = raw if request.body is None else json.loads(raw, object_hook=_with_sorted_required)
        return {"path": request.path, "headers": headers, "body": body}

    def files(self, names: list[str]) -> dict[str, str | None]:
        """Return the text of each of these files; None for one that does not exist."""
        paths = {name: self._root / name for name in names}
        return {
            name: self.mask(path.read_text("utf-8", "replace")) if path.is_file() else None
            for name, path in paths.items()
        }

    def data(self) -> list[str]:
        """Return the names of all files in the folder of data, below the root."""
        paths = sorted(path for path in (self._root / "data").rglob("*") if path.is_file())
        return [path.relative_to(self._root).as_posix() for path in paths]


def _with_sorted_required(members: dict[str, Any]) -> dict[str, Any]:
    """Return the order in a JSON Schema's `required` has no meaning."""
    required = members.get("required")
    return {**members, "required": sorted(required)} if isinstance(required, list) else members


def _script(sandbox: Sandbox, provider: ScriptedProvider, case: dict[str, Any]) -> None:
    """Let the provider give the recorded answers."""
    for answer in case.get("answers", ()):
        body = sandbox.fill(answer["body"]).encode() if "body" in answer else b""
        raw = Raw(
            base64.b64decode(answer["base64"]) if "base64" in answer else body,
            answer.get("status", 200),
            {"Content-Type": "application/json", **answer.get("headers", {})},
        )
        provider.script(
            answer["model"],
            Answer(
                raw,
                match=answer.get("match", ""),
                repeat=answer.get("repeat", False),
                delay=answer.get("delay", 0),
                pace=answer.get("body_delay", 0),
            ),
        )
    for limit in case.get("limits", ()):
        refusal = Refuses(429, "Rate limit reached", limit["headers"])
        provider.limit(limit["model"], limit["most"], refusal, limit["seconds"])


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_recorded_case_has_recorded_outcome(case: dict[str, Any], tmp_path: Path) -> None:
    expected = case["expect"]
    with ScriptedProvider() as provider:
        sandbox = Sandbox(tmp_path, provider)
        sandbox.write(case)
        _script(sandbox, provider, case)
        done = sandbox.run(case)
        requests = [sandbox.request(each, case.get("headers", [])) for each in provider.requests]
        outcome = {
            "exit_code": done.returncode,
            "stdout": sandbox.mask(done.stdout.decode("utf-8", "replace")),
            "stderr": sandbox.mask(done.stderr.decode("utf-8", "replace")),
            "requests": requests,
            "max_in_flight": provider.max_in_flight,
            "data": sandbox.data(),
            "files": sandbox.files(list(expected.get("files", ()))),
        }
    for member in expected:
        assert outcome[member] == expected[member], (
            f"{member} of {case['name']}: {case.get('note')}"
        )
