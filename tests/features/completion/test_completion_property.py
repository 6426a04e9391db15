"""Whatever somebody types, and wherever the cursor is: completion answers, and what it offers fits."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.completion.item import Completion
from support.any_text import TEXTS
from support.fixture import open_fixture, open_text

FILES = {
    "whole": """\
# What it is for
name = "main"
model = "anthropic/claude-opus-5"  # who answers
system_prompt = \"\"\"
Ask "lint" = [first],
then write.
\"\"\"
files = ["src/**/*.py", 'README.md']
sub_agents = [
  "lint",  # style
  "fix",
]

[sub_agents_config]
max_depth = 2
parallel = true

[[mcp_servers]]
name = "docs"
url = "https://example.org"
transport = "sse"
headers = { Accept = "text/plain", "X-Key" = "${KEY}" }

[params]
temperature = 0.5
response_format = { type = "text" }

[task.type.audit]
tools = ["grep", "read_file"]
""",
    "dotted": """\
name = 'main'
sub_agents_config.max_depth = 2
memory = { enabled = true, last_n = 5 }
params.response_format.type = "json_schema"
mcp_servers = [ { name = "a", url = "" }, { name = "b" } ]
tools = []
[output]
type = "object"
properties = { a = { type = "string" }, b = {} }
required = ["a"]
""",
    "indented": 'name = "main"\n\t[retry]\n\t  backoff = "linear"\n\n\t  max_retries = 2\n[[mcp_servers]]\n'
    '[mcp_servers.headers]\nA = "b"\n[[mcp_servers]]\n',
}
FILES["windows"] = FILES["whole"].replace("\n", "\r\n")


def offers(text: str, offset: int) -> list[Completion]:
    opened = open_fixture("--- main.toml\n--- lint.toml\n--- fi'x.toml\n")
    file = open_text(text)
    return completion(opened.snapshot, file, offset)


def cursors(text: str) -> Iterator[int]:
    """Return where a cursor can be: not inside a line's end."""
    return (at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n" or at == 0)


def expanded(snippet: str) -> str:
    """Return what an editor inserts before anybody has typed into the stops."""
    choices = re.sub(r"\$\{\d+\|([^,|]*)[^|]*\|\}", r"\1", snippet)
    return re.sub(r"\$\d+", "", re.sub(r"\$\{\d+:([^}]*)\}", r"\1", choices))


def check_offers(text: str, offset: int) -> None:
    found = offers(text, offset)
    assert len({each.label for each in found}) == len(found)
    liked = len(Parse(text).problems)
    for each in found:
        start, end = each.replace
        assert 0 <= start <= offset <= end <= len(text)
        assert not re.search(r"[\r\n]", text[start:end])
        new = each.text if each.snippet is None else expanded(each.snippet)
        after = text[:start] + new + text[end:]
        assert len(Parse(after).problems) <= liked, (each.label, after[max(0, start - 40) :][:99])


@given(TEXTS, st.data())
def test_what_is_offered_in_any_text_is_one_edit_at_the_cursor(
    text: str, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(0, len(text)))
    found = offers(text, offset)
    assert len({each.label for each in found}) == len(found)
    for each in found:
        assert each.label
        assert 0 <= each.replace.start <= offset <= each.replace.end <= len(text)
        assert "\n" not in each.replace.of(text)


@pytest.mark.parametrize("name", FILES)
def test_offers_at_any_place_of_a_file_leave_it_as_sound_as_it_was(name: str) -> None:
    text = FILES[name]
    assert Parse(text).problems == ()
    for offset in cursors(text):
        check_offers(text, offset)


@pytest.mark.parametrize("name", FILES)
def test_offers_at_the_end_of_a_half_typed_file_leave_it_as_sound_as_it_was(name: str) -> None:
    text = FILES[name]
    for end in cursors(text):
        check_offers(text[:end], end)


@given(st.sampled_from(sorted(FILES)), st.data())
def test_offers_anywhere_in_a_half_typed_file_leave_it_as_sound_as_it_was(
    name: str, data: st.DataObject
) -> None:
    text = FILES[name][: data.draw(st.integers(0, len(FILES[name])))]
    check_offers(text, data.draw(st.sampled_from(list(cursors(text)))))


def test_snippets_are_expanded_as_an_editor_would() -> None:
    assert expanded('a = "${1|x,y|}" $2 ${3:120}\n$0') == 'a = "x"  120\n'
