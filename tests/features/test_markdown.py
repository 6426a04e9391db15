"""Texts of a stranger's files in our Markdown: nothing in them is a link or a picture, whatever shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from axe_lsp.features.completion.completion import completion
from axe_lsp.features.hover import hover
from axe_lsp.features.markdown import as_code, as_text
from axe_lsp.lsp.hover import plain_text
from support.fixture import open_fixture

RENDERER = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def loads(markdown: str) -> bool:
    """Return whether an editor would find a link, a picture or HTML."""
    tokens = [
        each for token in RENDERER.parse(markdown) for each in (token, *(token.children or ()))
    ]
    return any(each.type in ("link_open", "image", "html_inline", "html_block") for each in tokens)


ATTACKS = [
    "![](https://stranger.example/seen.png)",
    "[click](https://stranger.example)",
    "<img src=https://stranger.example/x>",
    "<https://stranger.example>",
    "` ![](https://stranger.example/x)",
    "`\n\n![](https://stranger.example/x)\n\n`",
    "``` \n![](https://stranger.example/x)",
    "[a]\n\n[a]: https://stranger.example",
    "![a]\r\n\r\n[a]: https://stranger.example",
    "\\![](https://stranger.example/x)",
    "~~~\n![](https://stranger.example/x)\n~~~\n![](https://stranger.example/x)",
]


def quoted(text: str) -> str:
    """Return a TOML string."""
    for old, new in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(old, new)
    return f'"{text}"'


CALLER = '--- a.toml\nsub_agents = ["b<|>"]\n--- b.toml\n'
PLACES = {
    "description of an agent": CALLER + "description = {}\n",
    "model of an agent": CALLER + "model = {}\n",
    "sub-agents of an agent": CALLER + "sub_agents = [{}]\n",
    "member of an input": CALLER + '[input.properties.{}]\ntype = "string"\n',
    "description of a member": CALLER + '[input.properties.x]\ntype = "string"\ndescription = {}\n',
    "description of a type": '[task]\ntypes = ["x<|>"]\n[task.type.x]\ndescription = {}\n',
    "name of a type": '[task]\ntypes = [{}<|>]\n[task.type.{}]\ndescription = "d"\n',
    "member at its name": '[input.properties.x<|>]\ntype = "string"\ndescription = {}\n',
    "name of a member": '[input.properties.{}<|>]\ntype = "string"\n',
    "unknown agent": "sub_agents = [{}<|>]\n",
    "value in force": "system_<|>prompt = {}\n",
    "name of a type at its key": "[task.type.{}<|>]\nprompt = 'p'\n",
    "model": "model = {}<|>\n",
    "skill": "ski<|>ll = {}\n",
    "memory": "[memory]\npa<|>th = {}\n",
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_text_of_a_file_has_no_effect_in_hover(place: str, attack: str) -> None:
    text = place.replace("{}", quoted(attack)).replace('"<|>', '<|>"')
    opened = open_fixture(text)
    found = hover(opened.snapshot, opened.file, opened.offset)
    assert found is not None
    assert not loads(found.markdown)


@pytest.mark.parametrize("attack", ATTACKS)
def test_description_of_an_agent_has_no_effect_in_completion(attack: str) -> None:
    fixture = f'--- a.toml\nsub_agents = ["<|>"]\n--- b.toml\ndescription = {quoted(attack)}\n'
    opened = open_fixture(fixture)
    offers = completion(opened.snapshot, opened.file, opened.offset)
    (offer,) = (each for each in offers if each.label == "b")
    assert "stranger" in offer.documentation
    assert not loads(offer.documentation)


MARKS = st.text(alphabet="ab `*_[]()!<>\\~#-+=1.:/@\n\twww&;$|", max_size=30)


@given(MARKS)
def test_escaped_text_loads_nothing_and_reads_as_it_was(text: str) -> None:
    for markdown in (
        as_text(text),
        as_code(text),
        f"**{as_text(text)}** {as_code(text)}: {as_text(text)}",
    ):
        assert not loads(markdown)
    assert plain_text(as_text(text)) == " ".join(text.split())
