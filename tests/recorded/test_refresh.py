"""The replay of recorded cases against another version of their program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recorded import refresh
from recorded.refresh import NoSandboxError, Sandbox, case_drift, main, name_drift, replay

BEFORE = {
    "codex": "1.0.0",
    "keys": {"model": {"type": "a string"}, "profile": {"type": "a string"}},
    "feature_tables": ["code_mode"],
}


class Recorder:
    version = "2.0.0"

    def names(self, before: refresh.Names, *, is_quick: bool) -> refresh.Names:
        return before

    def says(self, case: refresh.Case) -> refresh.Says:
        return {"fatal": None, "messages": [f"ignored {case['name']}"]}


def test_names_that_are_new_gone_or_changed_are_a_line_each() -> None:
    after = {
        "codex": "2.0.0",
        "keys": {"model": {"type": "u64"}, "daybreak": {"type": "a boolean"}},
        "feature_tables": ["sleep_tool"],
    }
    assert list(name_drift(BEFORE, BEFORE)) == []
    assert list(name_drift(BEFORE, after)) == [
        'keys: `model` was {"type": "a string"}, is {"type": "u64"}',
        'keys: `profile` is gone (it was {"type": "a string"})',
        'keys: `daybreak` is new: {"type": "a boolean"}',
        "feature_tables: `code_mode` is gone",
        "feature_tables: `sleep_tool` is new",
    ]


def test_case_drifts_if_the_newest_recorded_answer_differs() -> None:
    case = {
        "name": "a",
        "says": {
            "1.10.0": {"fatal": None, "messages": ["ignored a"]},
            "1.9.0": {"fatal": "no", "messages": []},
        },
    }
    assert list(replay(Recorder(), [case])) == []
    other = {**case, "name": "b"}
    assert list(replay(Recorder(), [other])) == ["case b: no longer: ignored a; now: ignored b"]
    assert case_drift(case, {"fatal": "stops", "messages": []}) == "start: was fine, is stops"


def test_nothing_is_started_where_processes_can_not_be_cut_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSandboxError):
        Sandbox(Path(sys.executable), tmp_path)
    monkeypatch.setattr(sys, "argv", ["refresh", "codex", "--program", sys.executable])
    assert main() == 2
    assert "nothing was compared" in capsys.readouterr().err
