"""Comments that silence: those that are offered, and those that are no use."""

from __future__ import annotations

import pytest

from support.actions import Offered
from support.fixing import check


def test_a_comment_without_use_goes() -> None:
    check("stream = true  # axe: ignore[syntax<|>] why", "Remove the comment", "stream = true")
    check("# axe: ignore<|>\nstream = true", "Remove the comment", "stream = true")
    check(
        'sub_agents = ["x"] # axe: ignore[unknown-agent, max-depth<|>]',
        "Remove `max-depth`",
        'sub_agents = ["x"] # axe: ignore[unknown-agent]',
    )
    check(
        'sub_agents = ["x"] # axe: ignore[unknwn-agent<|>]',
        "Replace by `unknown-agent`",
        'sub_agents = ["x"] # axe: ignore[unknown-agent]',
    )


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ('sub_agents = ["x<|>"]', 'sub_agents = ["x"]  # axe: ignore[unknown-agent]'),
        (
            'sub_agents = [\n  "x<|>", # why\n]',
            'sub_agents = [\n  "x", # why  # axe: ignore[unknown-agent]\n]',
        ),
        (
            'sub_agents = ["x<|>", "x"] # axe: ignore[duplicate-agent]',
            'sub_agents = ["x", "x"] # axe: ignore[duplicate-agent, unknown-agent]',
        ),
        (
            '# axe: ignore[duplicate-agent]\r\nsub_agents = ["x<|>", "x"]',
            '# axe: ignore[duplicate-agent, unknown-agent]\r\nsub_agents = ["x", "x"]',
        ),
        (
            'sub_agents = ["""\nx<|>"""]',
            '# axe: ignore[unknown-agent]\nsub_agents = ["""\nx"""]',
        ),
    ],
)
def test_a_finding_is_silenced_by_a_comment(before: str, expected: str) -> None:
    check(before, "Silence `unknown-agent` here with a comment", expected)


@pytest.mark.parametrize("text", ["skill = <|>", "stream = true # axe: ignore<|>", "# x<|>"])
def test_what_no_comment_can_silence(text: str) -> None:
    found = Offered(text, "quickfix").titles
    assert not any(each.startswith("Silence") for each in found)
