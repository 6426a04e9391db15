"""What looks like an API key, and what only looks a little like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.secrets import find_secrets, without_secrets
from support.secrets import ANTHROPIC_KEY, OPENAI_KEY

MIXED = "Zb4kQ9tR2mWx7LpV5nYc1JhD8sFg3Aq6" * 2


@pytest.mark.parametrize(
    ("key", "owner"),
    [
        (ANTHROPIC_KEY, "Anthropic"),
        (OPENAI_KEY, "OpenAI"),
        ("sk-" + MIXED[:48], "OpenAI"),
        ("sk-or-" + "v1-" + "9f3c07ad51e8b264" * 4, "OpenRouter"),
        ("AIza" + MIXED[:35], "Google"),
        ("tvly-" + MIXED[:32], "Tavily"),
        ("gsk_" + MIXED[:52], "Groq"),
        ("hf_" + MIXED[:34], "Hugging Face"),
        ("ghp_" + MIXED[:36], "GitHub"),
        ("AKIA" + "Q7ZX4B2NM8LK5RTW", "AWS"),
    ],
)
def test_api_keys_are_recognised_with_their_provider(key: str, owner: str) -> None:
    text = f'Authorization = "Bearer {key}", rest'
    (found,) = find_secrets(text)
    assert (found.owner, found.range.of(text)) == (owner, key)


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-...",
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-proj-your-key-goes-here-0000-1111-2222-3333-4444",
        "sk-this-is-the-name-of-a-risk-assessment-agent-42",
        "sk-00000000000000000000000000000000000000000000",
        "task-" + MIXED[:40],
        "sk-" + MIXED[:12],
        "${ANTHROPIC_API_KEY}",
        "AKIAIOSFODNN7EXAMPLE",
        "hf_hub_download_of_a_very_long_function_name",
    ],
)
def test_placeholders_and_words_are_no_secrets(text: str) -> None:
    assert list(find_secrets(text)) == []


def test_redaction_keeps_positions() -> None:
    text = f"a {OPENAI_KEY} b {ANTHROPIC_KEY}"
    blotted = without_secrets(text)
    assert len(blotted) == len(text)
    assert blotted.replace("•", "") == "a  b "


@given(
    st.lists(
        st.sampled_from([OPENAI_KEY, ANTHROPIC_KEY, "sk-", "é", " ", MIXED, "AIza"]), max_size=8
    )
)
def test_no_secret_begins_in_another_one(parts: list[str]) -> None:
    text = "".join(parts)
    found = [each.range for each in find_secrets(text)]
    for number, one in enumerate(found):
        assert not any(earlier.touches(one.start) for earlier in found[:number])
