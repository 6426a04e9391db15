"""Recorded verdicts of other programs on their own files, and the comparison of `axe-lsp check` with them.

The form of a case is described in `tests/recorded/codex/README.md`.
"""

from __future__ import annotations

import io
import json
import lzma
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.cli.check import main

RECORDED = Path(__file__).parent.parent / "recorded"

MOST_ERRORS = 2
"""Errors of a file per fault; a file that is dropped has one fault unless its expectation gives a number."""

Case = dict[str, Any]


def load_cases(file: Path) -> list[Case]:
    """Return the cases of a file, which is JSON, compressed by xz if its name ends so."""
    raw = file.read_bytes()
    cases: list[Case] = json.loads(lzma.decompress(raw) if file.suffix == ".xz" else raw)
    return cases


def place_case(case: Case, root: Path) -> tuple[Path, Path]:
    """Write the files of a case. Return the home folder and the project, which has an empty `.git` unless it brings its own."""
    home, project = root / "home", root / "project"
    has_git = any(path.split("/")[0] == ".git" for path in case["files"])
    for folder in (home / ".codex", project if has_git else project / ".git"):
        folder.mkdir(parents=True, exist_ok=True)
    (project / case.get("cwd", ".")).mkdir(parents=True, exist_ok=True)
    for path, text in case["files"].items():
        target = located(path, home, project)
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    return home, project


def located(path: str, home: Path, project: Path) -> Path:
    """Return the place of a file of a case."""
    return home / path[5:] if path.startswith("HOME/") else project / path


def case_environment(home: Path) -> dict[str, str]:
    """Return the environment of a command for a case: nothing of the user's own settings is found."""
    ours = ("XDG_", "AXE_", "CODEX_", "VIBE_", "CLAUDE_", "OPENCODE_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"HOME": str(home), "CODEX_HOME": str(home / ".codex")}
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        environment[f"XDG_{name}_HOME"] = str(home / f".xdg-{name.lower()}")
    return environment


def deviations(case: Case, root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return where `axe-lsp check`, executed in this process, deviates from what was recorded."""
    home, project = place_case(case, root.resolve())
    cwd = (project / case.get("cwd", ".")).resolve()
    places = {path: located(path, home, project).resolve() for path in case["expect"]}
    named = [str(place) for place in places.values() if not place.is_relative_to(cwd)]
    output = io.StringIO()
    with monkeypatch.context() as patch, redirect_stdout(output), redirect_stderr(io.StringIO()):
        patch.setattr(os, "environ", case_environment(home))
        patch.chdir(cwd)
        main(["--format", "json", *([".", *named] if named else [])])
    by_file: dict[Path, list[Mapping[str, Any]]] = {}
    for diagnostic in json.loads(output.getvalue() or "[]"):
        name = diagnostic["file"]
        where = home / name[2:] if name.startswith("~/") else cwd / name
        by_file.setdefault(where.resolve(), []).append(diagnostic)
    return [
        f"{path}: {deviation}"
        for path, expected in case["expect"].items()
        for deviation in _deviations_of_file(expected, by_file.get(places[path], []))
    ]


def _deviations_of_file(
    expected: Mapping[str, Any], diagnostics: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    errors = [each for each in diagnostics if each["severity"] == "error"]
    if expected["verdict"] == "drop":
        yield from _deviations_of_errors(expected, [each["line"] for each in errors])
        return
    for each in errors:
        yield f"it is accepted, but there is an error on line {each['line']}: {each['message']}"
    if "warn" in expected and not errors:
        possible = expected.get("either", [expected.get("line")])
        places = [[each] for each in expected["lines"]] if "lines" in expected else [possible]
        for place in places:
            yield from _deviations_of_warning(expected, diagnostics, place)
    if expected.get("quiet"):
        for each in diagnostics:
            if each["severity"] == "warning":
                yield f"it is accepted without a word, but: line {each['line']}: {each['message']}"


def _deviations_of_errors(expected: Mapping[str, Any], lines: Sequence[int]) -> Iterator[str]:
    line = expected.get("line")
    possible = expected.get("either", [line])
    if not lines:
        yield f"no error, but it is dropped: {expected['why']}"
    elif line is not None and not set(possible) & set(lines):
        yield f"errors on the lines {lines}, not on {possible}: {expected['why']}"
    elif len(lines) > MOST_ERRORS * expected.get("faults", 1):
        yield f"{len(lines)} errors"


def _deviations_of_warning(
    expected: Mapping[str, Any], diagnostics: Sequence[Mapping[str, Any]], lines: list[int | None]
) -> Iterator[str]:
    there = [each for each in diagnostics if lines == [None] or each["line"] in lines]
    if not there:
        yield f"no warning on line {lines[0]}: {expected['warn']}"
    text = " ".join(each["message"] for each in there)
    for word in expected.get("mentions", []) if there else []:
        if not any(
            spelling in text for spelling in (f"`{word}`", f'"{word}"', f"[{word}]", f" {word}")
        ):
            yield f"the warning on line {lines[0]} does not name {word}: {text}"
    for word in expected.get("denies", []):
        if word in text:
            yield f"the warning on line {lines[0]} is false ({word}): {text}"
