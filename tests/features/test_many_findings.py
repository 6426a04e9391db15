"""A file with more problems than anybody reads."""

from __future__ import annotations

from axe_lsp.features.code_action import code_actions
from axe_lsp.features.diagnostics import MOST_FINDINGS, diagnostics
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Context
from support.findings import HEAD
from support.fixture import open_fixture


def test_no_more_findings_are_shown_than_are_stated_and_errors_come_first() -> None:
    unknown = "".join(f"unknown_{number} = 1\n" for number in range(MOST_FINDINGS + 500))
    opened = open_fixture(f'{HEAD}{unknown}timeout = "x"\n')
    found = diagnostics(opened.snapshot, opened.file)
    assert len(found) == MOST_FINDINGS
    (note,) = [each for each in found if "more problems" in each.message]
    assert note.message == "502 more problems in this file are not shown, this one among them"
    (error,) = [each for each in found if each.severity == Severity.ERROR]
    assert error.code == "wrong-type", "an error behind all of them is not left out"
    assert list(found) == sorted(found, key=lambda each: each.range)


def test_the_note_about_the_others_has_the_actions_of_the_problem_at_which_it_is() -> None:
    unknown = "".join(f"unknown_{number} = 1\n" for number in range(MOST_FINDINGS + 1))
    opened = open_fixture(f"{HEAD}{unknown}")
    (note,) = [each for each in diagnostics(opened.snapshot, opened.file) if "more" in each.message]
    context = Context(
        opened.snapshot, lambda file: diagnostics(opened.snapshot, file), lambda _: ""
    )
    titles = [each.title for each in code_actions(context, opened.file, note.range)]
    assert f"Remove `unknown_{MOST_FINDINGS}`" in titles
