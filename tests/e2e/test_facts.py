"""What lies outside an agent file, as an editor shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.session import Project

HEAD = 'name = "main"\nmodel = "ollama/m"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_missing_files_are_reported_and_followed(project: Project) -> None:
    with project.editor() as editor:
        editor.open("main", HEAD + 'skill = "s.md"\nfiles = ["*.md"]\nworkdir = "."\n')
        assert editor.problems("main", 2) == ['missing-file "s.md"', 'empty-glob "*.md"']
        (project.home / ".config/axe/s.md").write_text("Be brief.")
        readme = project.root / "README.md"
        readme.write_text("# Read")
        editor.changed_on_disk(readme)
        assert editor.problems("main", 0) == []
        editor.replace("main", 'workdir = "."', 'workdir = "gone"')
        assert editor.problems("main", 1) == ['missing-file "gone"']
        assert editor.client.leave() == 0


def test_api_key_in_the_environment_prevents_missing_api_key(tmp_path: Path) -> None:
    text = HEAD.replace("ollama", "openai")
    project = Project(tmp_path / "with", {"OPENAI_API_KEY": "nobody-may-see-it"})
    with project.editor() as editor:
        editor.open("main", text + 'skill = "gone"\n')
        assert editor.problems("main", 1) == ['missing-file "gone"']
        assert "nobody-may-see-it" not in str(editor.client.received)
    with Project(tmp_path / "without").editor() as editor:
        editor.open("main", text)
        assert editor.problems("main", 1) == ['missing-api-key "openai/m"']


def test_a_key_that_is_put_into_config_toml_is_found_at_once(project: Project) -> None:
    with project.editor() as editor:
        editor.open("main", HEAD.replace("ollama", "openai"))
        assert editor.problems("main", 1) == ['missing-api-key "openai/m"']
        config = project.home / ".config/axe/config.toml"
        config.write_text('[providers.openai]\napi_key = "k"\n')
        editor.changed_on_disk(config)
        assert editor.problems("main", 0) == []


def test_a_key_that_is_typed_into_config_toml_counts_before_it_is_saved(project: Project) -> None:
    with project.editor() as editor:
        editor.open("main", HEAD.replace("ollama", "openai"))
        assert editor.problems("main", 1) == ['missing-api-key "openai/m"']
        config = (project.home / ".config/axe/config.toml").as_uri()
        opened = {"uri": config, "languageId": "toml", "version": 1}
        text = '[providers.openai]\napi_key = "k"\n'
        editor.client.notify("textDocument/didOpen", {"textDocument": {**opened, "text": text}})
        assert editor.problems("main", 0) == []
        editor.client.notify("textDocument/didClose", {"textDocument": {"uri": config}})
        assert editor.problems("main", 1) == ['missing-api-key "openai/m"']


def test_hover_and_hints_have_matched_files_and_prompt_size(project: Project) -> None:
    (project.root / "a.md").write_text("x" * 400)
    refresh = {"workspace": {"inlayHint": {"refreshSupport": True}}}
    with project.editor(capabilities=refresh) as editor:
        editor.open("main", HEAD + 'files = ["*.md"]\nsystem_prompt = "Read."\n')
        editor.client.wait_for("workspace/inlayHint/refresh")
        hover = editor.ask("hover", "main", '"*')["contents"]
        assert hover["value"].startswith("**`*.md`** · 1 file, 400 bytes, about 100 tokens")
        params = {
            "textDocument": {"uri": editor.uri("main")},
            "range": editor.range("main", 0, len(editor.texts["main"])),
        }
        hints = editor.client.request("textDocument/inlayHint", params)
        assert [each["label"] for each in hints] == [
            "1 file, about 100 tokens",
            "about 110 tokens with all additions",
        ]


def test_a_client_without_markdown_gets_plain_text(project: Project) -> None:
    plain = {
        "hover": {"contentFormat": ["plaintext"]},
        "completion": {"completionItem": {"documentationFormat": ["plaintext"]}},
    }
    with project.editor(capabilities={"textDocument": plain}) as editor:
        editor.open("main", HEAD + "\n")
        hover = editor.ask("hover", "main", "mod")["contents"]
        assert hover["kind"] == "plaintext"
        assert hover["value"].startswith("model · string\n")
        offers = editor.ask("completion", "main", HEAD)["items"]
        kinds = {each["documentation"]["kind"] for each in offers if "documentation" in each}
        assert kinds == {"plaintext"}


@pytest.mark.parametrize("links", [True, False])
def test_paths_lead_to_files(project: Project, links: bool) -> None:
    skill = project.home / ".config/axe/s.md"
    skill.write_text("Be brief.")
    for name in ("a.md", "b.md"):
        (project.root / name).write_text("# Read")
    capabilities = {"textDocument": {"definition": {"linkSupport": links}}}
    with project.editor(capabilities=capabilities) as editor:
        editor.open("main", HEAD + 'skill = "s.md"\nfiles = ["*.md", "none"]\n')
        editor.problems("main", lambda found: found == ['empty-glob "none"'])
        (link,) = editor.client.request(
            "textDocument/documentLink", {"textDocument": {"uri": editor.uri("main")}}
        )
        assert (link["target"], link["tooltip"]) == (skill.as_uri(), str(skill))
        found = editor.ask("definition", "main", '"*')
        assert [each["targetUri" if links else "uri"] for each in found] == [
            (project.root / name).as_uri() for name in ("a.md", "b.md")
        ]


def test_paths_are_completed(project: Project) -> None:
    (project.root / "src").mkdir()
    (project.root / "src/a.py").write_text("")
    with project.editor() as editor:
        editor.open("main", HEAD + 'workdir = "."\nfiles = ["src/"]\n')
        found = editor.ask("completion", "main", '["src/')
        assert [each["label"] for each in found["items"]] == ["**/", "*.py", "*", "a.py"]
        folders = editor.ask("completion", "main", 'workdir = "')["items"]
        assert [(each["label"], each["kind"]) for each in folders if each["label"] == "src/"] == [
            ("src/", 19)
        ]


def test_agents_that_use_a_skill_are_found_from_both_sides(project: Project) -> None:
    skill = project.home / ".config/axe/skills/review/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("# Review")
    for name, written in (("a", "review"), ("b", "skills/review/SKILL.md"), ("c", "other.md")):
        project.write(name, f'name = "{name}"\nmodel = "ollama/m"\nskill = "{written}"\n')
    with project.editor() as editor:
        text = f'skill = "{skill}"\nfiles = ["none"]\nsub_agents = ["nobody"]\n'
        editor.open("main", HEAD + text)
        editor.problems("main", 2)  # All folders have been read, and somebody has looked.
        params = {"position": {"line": 0, "character": 0}, "context": {"includeDeclaration": True}}
        document = {"uri": skill.as_uri(), "languageId": "markdown", "version": 1, "text": "# R"}
        editor.client.notify("textDocument/didOpen", {"textDocument": document})
        asked = {"textDocument": {"uri": skill.as_uri()}, **params}
        users = [editor.uri(name) for name in ("a", "b", "main")]
        found = editor.client.request("textDocument/references", asked)
        assert [each["uri"] for each in found] == users
        place = editor.range("main", len(HEAD) + 10, len(HEAD) + 10)["start"]
        asked = {"textDocument": {"uri": editor.uri("main")}, **params, "position": place}
        found = editor.client.request("textDocument/references", asked)
        assert [each["uri"] for each in found] == users


def test_skill_of_a_claude_agent_leads_to_its_file_and_back(project: Project) -> None:
    skill = project.root / ".claude/skills/tidy/SKILL.md"
    agents = project.root / ".claude/agents"
    for folder in (skill.parent, agents):
        folder.mkdir(parents=True)
    skill.write_text("# Tidy")
    head = "---\nname: {}\ndescription: D.\nskills: [tidy, gone]\n---\nWork.\n"
    for name in ("one", "two"):
        (agents / f"{name}.md").write_text(head.format(name))
    text, one = head.format("one"), (agents / "one.md").as_uri()
    with project.editor() as editor:
        item = {"uri": one, "languageId": "markdown", "version": 1, "text": text}
        editor.client.notify("textDocument/didOpen", {"textDocument": item})
        editor.client.wait_for(
            "textDocument/publishDiagnostics",
            lambda shown: shown["uri"] == one and len(shown["diagnostics"]) == 1,
        )
        asked = {
            "textDocument": {"uri": one},
            "position": {"line": 3, "character": 11},
            "context": {"includeDeclaration": True},
        }
        found = editor.client.request("textDocument/definition", asked)
        assert [each.get("targetUri", each.get("uri")) for each in found] == [skill.as_uri()]
        users = editor.client.request("textDocument/references", asked)
        assert [each["uri"] for each in users] == [
            (agents / f"{name}.md").as_uri() for name in ("one", "two")
        ]
