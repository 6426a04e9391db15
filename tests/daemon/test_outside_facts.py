"""What is found outside an agent file: the same as a run would find."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import MemoryConfig
from axe_lsp.agentfile.rights import Asked, Reach, Server
from axe_lsp.daemon import outside_facts
from axe_lsp.daemon.outside_facts import PathContext, Searched, find_out
from axe_lsp.runtime.files.context_files import find_context_files
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.mcp.seen_tools import ToolNow, remember
from axe_lsp.runtime.safety.reach import reaches
from axe_lsp.workspace.facts import Facts, Remembered, SeenTool, Unready
from axe_lsp.workspace.outside_values import Question

SECRET = "a-key-that-nobody-may-see"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in {
        "src/a.py": "aaaa",
        "src/b.py": "bb",
        "src/deep/c.py": "c",
        "src/binary.py": "\0",
        "README.md": "# Read\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "src/out.py").symlink_to(tmp_path / "home")
    return folder


def look(project: Path, question: Question, is_usual: bool = True, **variables: str) -> Facts:
    home = project.parent / "home"
    environment = {"XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home), **variables}
    return find_out(question, PathContext("main", project, environment, is_usual))


def test_files_are_those_that_a_run_reads(project: Path) -> None:
    patterns = ("src/**/*.py", "*.md", "none/*", "src/binary.py", "../project/*.md")
    found = look(project, Question(globs=patterns)).matches
    for pattern in patterns:
        read = find_context_files([pattern], project).files
        assert [(each.name, each.size) for each in found[pattern].files] == [
            (each.path, each.size) for each in read
        ]
        assert found[pattern].count == len(read)
        assert found[pattern].size == sum(each.size for each in read)
        assert found[pattern].is_complete
    assert found["*.md"].files[0].uri == (project / "README.md").as_uri()


def test_a_picture_is_named_and_is_no_text(project: Path) -> None:
    before = look(project, Question(globs=("*",)))
    (project / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(5_000))
    found = look(project, Question(globs=("*", "*.md")))
    assert found.matches["*"].picture == "b.png"
    assert found.matches["*"].count == before.matches["*"].count + 1
    assert found.matches["*.md"].picture == ""
    assert found.added == before.added


def test_malformed_glob_has_no_matches(project: Path) -> None:
    assert look(project, Question(globs=("[", "*"))).matches.keys() == {"*"}


def test_a_server_needs_its_program_and_its_variables(project: Path) -> None:
    program = project / "bin" / "here"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    servers = (
        Server("here", ("A", "B"), ("A",), "here"),
        Server("gone", command="gone"),
        Server("http://x", ("B",), ("B",)),
    )
    environment = {"PATH": str(program.parent), "A": "1", "B": ""}
    found = find_out(Question(servers=servers), PathContext("main", project, environment))
    assert found.unready == (Unready(1, "gone"), Unready(2, variables=("B",)))
    assert found.as_far_as_true(Question()).unready == ()


def test_a_server_has_the_tools_that_a_run_has_seen(project: Path, tmp_path: Path) -> None:
    program = project / "bin" / "here"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environment = {"PATH": str(program.parent), "XDG_STATE_HOME": str(tmp_path / "state")}
    seen = [ToolNow("a", "Does\n more", ""), ToolNow("b", "", "")]
    remember(environment, project, "here -x", seen)
    remember(environment, tmp_path, "http://x", [ToolNow("other", "", "")])
    servers = (Server("here -x", command="here"), Server("http://x"))
    path_context = PathContext(
        "main", project, environment, file=project / "main.toml", allowances=("run_mcp(here -x)",)
    )
    (project / "main.toml").write_text("")
    found = find_out(Question(servers=servers), path_context)
    first, second = found.servers
    assert (first.program, first.is_allowed, first.is_trusted) == (str(program), True, False)
    assert first.tools == (SeenTool("a", "Does"), SeenTool("b", ""))
    assert (second.tools, second.is_allowed) == (None, False)
    assert found.as_far_as_true(Question()).servers == ()
    assert find_out(Question(servers=servers), path_context, with_prompt=False).servers == ()


def test_a_search_ends_when_it_is_told_to(project: Path) -> None:
    question = Question(globs=("**/*.py",))
    steps = iter([True, False])
    found = find_out(question, PathContext("main", project, {}), lambda: next(steps, False))
    assert not found.matches["**/*.py"].is_complete


def test_a_folder_of_very_many_files_is_not_counted_to_its_end(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside_facts, "MAX_MATCHES", 2)
    monkeypatch.setattr(outside_facts, "SHOWN_MATCHES", 1)
    (found,) = look(project, Question(globs=("src/[ab].py",))).matches.values()
    assert (found.count, len(found.files), found.is_complete) == (2, 1, True)
    (found,) = look(project, Question(globs=("**/*.py",))).matches.values()
    assert not found.is_complete


def test_working_directory_is_resolved_with_variables(project: Path) -> None:
    found = look(project, Question(workdir="src", globs=("*.py",)))
    assert found.folder is not None
    assert (found.folder.shown, found.folder.exists) == (str(project / "src"), True)
    assert found.matches["*.py"].count == 2

    gone = look(project, Question(workdir="$PLACE", globs=("*",)), PLACE=str(project / "gone"))
    assert gone.folder is not None
    assert (gone.folder.shown, gone.folder.exists) == (str(project / "gone"), False)
    assert gone.matches["*"].count == 0


def test_only_an_absolute_folder_is_the_same_wherever_an_agent_is_run(project: Path) -> None:
    assert look(project, Question(workdir="src")).is_certain
    assert not look(project, Question(workdir="src"), is_usual=False).is_certain
    assert look(project, Question(workdir=str(project)), is_usual=False).is_certain


def test_skill_is_found_by_path_and_by_name(project: Path) -> None:
    skill = project.parent / "home/axe/skills/review/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Look twice.")
    for written in ("skills/review/SKILL.md", "review", str(skill)):
        found = look(project, Question(skill=written)).skill
        assert found is not None
        assert (found.uri, found.exists) == (skill.as_uri(), True)
    gone = look(project, Question(skill="skills/none.md")).skill
    assert gone is not None
    assert not gone.exists
    folder = look(project, Question(skill="skills/review")).skill
    assert folder is not None
    assert not folder.exists
    assert look(project, Question()).skill is None


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"Look twice.", ""),
        (b"\xef\xbb\xbf---\nname: review\n---\nLook twice.", ""),
        (b" \n", "it is empty, so it adds nothing to the prompt"),
        (
            b"Look\ntwi\xffce.",
            "it is not UTF-8 (line 2, column 4: byte 0xFF), and what can't be read is replaced",
        ),
        (
            b"---\nname: other\n---\nLook twice.",
            'its front matter calls it "other", but it is found as "review"',
        ),
    ],
)
def test_invalid_skill_has_its_fault(project: Path, content: bytes, fault: str) -> None:
    folder = project.parent / "home/axe/skills/review"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(content)
    facts = look(project, Question(skill="review"))
    assert facts.skill is not None
    assert (facts.skill.exists, facts.skill_fault) == (True, fault)
    within = look(project, Question(skill=str(folder)))
    assert within.skill_fault == "it is a folder; name the SKILL.md in it"
    assert look(project, Question(skill="skills")).skill_fault == "it is a folder"
    assert look(project, Question(skill="none")).skill_fault == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_skill_that_is_a_pipe_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "pipe")
    facts = look(project, Question(skill=str(project / "pipe")))
    assert (facts.skill_fault, facts.added) == ("it is not a regular file", None)


def test_recordings_are_looked_for_where_a_run_looks(project: Path) -> None:
    question = Question(model="replay/tour", workdir="src")
    searched = look(project, question).recording
    assert searched is not None
    assert searched.uri == ""
    assert searched.searched[0] == str(project / "src/axe/replays")

    there = project / "axe/replays/tour.toml"
    there.parent.mkdir(parents=True)
    there.write_text("version = 1")
    found = look(project, question).recording
    assert found is not None
    assert found.uri == there.as_uri()


def test_keys_are_found_and_never_shown(project: Path) -> None:
    question = Question(model="openai/gpt")
    missing = look(project, question).key
    assert missing is not None
    assert missing.is_missing
    assert missing.variable == "OPENAI_API_KEY"

    given = look(project, question, OPENAI_API_KEY=SECRET)
    assert given.key is not None
    assert given.key.origin == "$OPENAI_API_KEY"
    assert SECRET not in repr(given)

    config = project.parent / "home/axe/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[providers.openai]\napi_key = "{SECRET}"\nbase_url = "http://x:{SECRET}@y"')
    configured = look(project, question)
    assert configured.key is not None
    assert (configured.key.origin, configured.key.address_origin) == ("config.toml", "config.toml")
    assert SECRET not in repr(configured)


@pytest.mark.parametrize("model", ["", "gpt", "nobody/x"])
def test_model_without_a_provider_key_has_no_key_fact(project: Path, model: str) -> None:
    assert look(project, Question(model=model)).key is None


def test_a_key_counts_where_config_toml_is_open_and_unsaved(project: Path) -> None:
    config = project.parent / "home" / "axe" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[providers.openai]\napi_key = "on the disk"\n')

    def missing(text: str) -> bool | None:
        environment = {"XDG_CONFIG_HOME": str(project.parent / "home")}
        path_context = PathContext("main", project, environment, open_config=text)
        key = find_out(Question(model="openai/gpt"), path_context).key
        assert SECRET not in repr(path_context)
        return key.is_missing if key is not None else None

    assert missing(f'[providers.openai]\napi_key = "{SECRET}"\n') is False
    assert missing("[providers.openai]\n") is True
    assert missing("[providers.openai") is None  # While it is being typed, nobody can tell.


def test_ollama_needs_no_key(project: Path) -> None:
    key = look(project, Question(model="ollama/llama")).key
    assert key is not None
    assert not key.is_missing


def test_a_broken_config_is_not_blamed_on_the_agent(project: Path) -> None:
    config = project.parent / "home/axe/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[")
    assert look(project, Question(model="openai/gpt")).key is None


def test_what_is_added_to_the_prompt_is_counted(project: Path) -> None:
    home = project.parent / "home/axe"
    (home / "memory").mkdir(parents=True)
    (home / "memory/main.md").write_text("## then\nagain\n")
    (home / "skill.md").write_text("Look twice.")
    memory = MemoryConfig(enabled=True)
    question = Question(skill="skill.md", globs=("src/[ab].py", "src/a.py"), memory=memory)
    expected = (
        "\n\n---\n\n## Skill\n\nLook twice."
        "\n\n---\n\n## Context Files\n\n"
        "### src/a.py\n```py\naaaa\n```\n\n### src/b.py\n```py\nbb\n```"
        "\n\n---\n\n## Memory\n\n## then\nagain\n"
    )
    found = look(project, question)
    assert found.added == len(expected)
    assert found.memory == Remembered(str(home / "memory/main.md"), 1)
    assert look(project, Question(memory=MemoryConfig(enabled=True, scope="run"))).memory is None
    assert look(project, Question()).added == 0
    assert look(project, Question(skill="gone.md")).added is None


@pytest.mark.parametrize("odd", ["\0", "~", "x" * 5000, "../" * 50])
def test_any_typed_text_gives_facts(project: Path, odd: str) -> None:
    question = Question(model=f"replay/{odd}", skill=odd, workdir=odd, globs=(odd,))
    assert find_out(question, PathContext("main", project, {})).question == question
    assert look(project, question, HOME="/nonexistent").question == question


def test_equal_questions_share_their_search(project: Path) -> None:
    home = project.parent / "home"
    path_context = PathContext("main", project, {"XDG_CONFIG_HOME": str(home)})
    question = Question(globs=("src/*.py",), model="openai/gpt", workdir="src")
    searched = Searched()
    first = find_out(question, path_context, searched=searched)
    (project / "src").rename(project / "sources")
    (home / "axe").mkdir(parents=True)
    (home / "axe/config.toml").write_text('[providers.openai]\napi_key = "k"\n')
    assert find_out(question, path_context, searched=searched) == first
    now = find_out(question, path_context)
    assert now.folder != first.folder
    assert now.key != first.key
    other = Question(model="anthropic/claude", workdir="sources")
    assert find_out(other, path_context, searched=searched) == find_out(other, path_context)


def test_reaches_of_equal_questions_are_shared(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []

    def counted(asked: Asked, workspace: Path, environment: Environment) -> tuple[Reach, ...]:
        looked.append(asked)
        return reaches(asked, workspace, environment)

    monkeypatch.setattr(outside_facts, "reaches", counted)
    home = project.parent / "home"
    question, searched = Question(globs=("../home/*",)), Searched()

    def found(file: Path, question: Question = question) -> bool:
        path_context = PathContext("main", project, {"XDG_CONFIG_HOME": str(home)}, file=file)
        shared = find_out(question, path_context, searched=searched)
        times = len(looked)
        assert shared == find_out(question, path_context)
        del looked[times:]
        return bool(shared.reaches)

    for _ in range(2):
        assert found(project / "axe/agents/main.toml")
        assert not found(home / "axe/agents/main.toml")
        assert not found(project / "axe/agents/main.toml", Question(globs=("src/*",)))
    assert len(looked) == 2


def test_a_provider_of_config_toml_has_its_wire_and_its_key(project: Path) -> None:
    config = project.parent / "home/axe/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[providers.mine]\nwire = "gemini"\napi_key_env = "MY_KEY"\n')
    facts = look(project, Question(model="mine/m"))
    assert facts.named_providers == ("mine",)
    assert facts.key is not None
    assert (facts.key.wire, facts.key.variable) == ("gemini", "MY_KEY")
    assert facts.key.is_missing
    assert look(project, Question(model="nobody/m")).key is None
