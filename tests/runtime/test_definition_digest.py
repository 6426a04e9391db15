"""The identity of a version of an agent: it follows the meaning of a file, not its layout."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import Source, load
from axe_lsp.runtime.prompt import definition_digest

AGENT = 'name = "a"\nmodel = "openai/m"\nsystem_prompt = "x"\n'


def digest(text: str, home: Path, path: str = "/p/axe/agents/a.toml") -> str:
    definition = replace(load(text), source=Source(path, text))
    return definition_digest(definition, home, {"HOME": str(home)})


@pytest.mark.parametrize(
    "same",
    [
        'model = "openai/m"\nname="a"\nsystem_prompt = """x"""\n',
        f"# a comment\n\n{AGENT}",
    ],
)
def test_layout_and_comments_of_a_file_keep_its_digest(tmp_path: Path, same: str) -> None:
    assert digest(same, tmp_path) == digest(AGENT, tmp_path, "/q/axe/agents/a.toml")


@pytest.mark.parametrize(
    "other", [AGENT.replace('"x"', '"y"'), f"{AGENT}timeout = 3\n", f"{AGENT}[params]\nseed = 1\n"]
)
def test_another_meaning_of_a_file_has_another_digest(tmp_path: Path, other: str) -> None:
    assert digest(other, tmp_path) != digest(AGENT, tmp_path)


def test_text_of_a_skill_counts_unless_the_file_needs_trust_for_it(tmp_path: Path) -> None:
    named, elsewhere = tmp_path / ".config/axe/skills/s/SKILL.md", tmp_path.parent / "skill.md"
    named.parent.mkdir(parents=True)
    digests = []
    for text in ("one", "two"):
        named.write_text(text)
        elsewhere.write_text(text)
        digests += [
            digest(f'{AGENT}skill = "s"\n', tmp_path),
            digest(f'{AGENT}skill = "{elsewhere.as_posix()}"\n', tmp_path),
        ]
    assert digests[0] != digests[2]
    assert digests[1] == digests[3]
