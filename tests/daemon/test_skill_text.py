"""What is wrong with the text of a skill."""

from __future__ import annotations

import pytest

from axe_lsp.daemon.skill_file import skill_fault


@pytest.mark.parametrize(
    "text",
    [
        "Look twice.",
        "---\nname: review\n---\n",
        "---  \r\ndescription: x\r\nname: 'review'  # as the folder\r\n---\r\nLook.",
        '---\nname: "review"\n---\nname: other',
        "---\nname:\n---\n",
        "---\nmetadata:\n  name: other\n---\n",
        "Look.\n\n---\n\nname: other",
        "----\nLook.",
        "---\nLook twice.\n",
        "---\n\nname: a rule, and what comes below it\n",
        "---\nNote: look twice.\n",
        "---\n",
        "---\n ---\n----\n",
    ],
)
def test_skills_that_are_as_they_should_be(text: str) -> None:
    assert skill_fault(text, "review") == ""


@pytest.mark.parametrize("text", ["", " \n\t", "\n"])
def test_an_empty_skill(text: str) -> None:
    assert skill_fault(text, "review") == "it is empty, so it adds nothing to the prompt"


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: review\nLook.",
        "---\r\nallowed-tools:\r\n  - Read\r\nLook.",
        "---\n# As others have it.\ndescription: x\n----\n",
    ],
)
def test_front_matter_without_an_end(text: str) -> None:
    fault = "its front matter is not closed: a second line `---` is missing"
    assert skill_fault(text, "review") == fault


def test_front_matter_with_another_name() -> None:
    text = "---\ndescription: x\nname: rview\n---\n"
    fault = 'its front matter calls it "rview", but it is found as "review"'
    assert skill_fault(text, "review") == fault
    assert skill_fault(text, "") == ""
