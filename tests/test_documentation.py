"""The documentation says what the code does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from axe_lsp.agentfile.agent_definition import load
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.cli.demo import EXAMPLES
from axe_lsp.runtime import events
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.run_result import RunResult

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", generator().generated(), ids=lambda path: path.name)
def test_generated_pages_are_fresh(path: Path) -> None:
    expected = generator().generated()[path]
    assert path.read_text("utf-8") == expected, "stale: run `python docs/generate.py`"


@pytest.mark.parametrize("path", generator().PROSE, ids=lambda path: path.name)
def test_paragraphs_are_wrapped_at_100_columns(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text == generator().wrapped(text), "run `python docs/generate.py`"


def test_the_architecture_names_modules_that_exist() -> None:
    package = ROOT / "server" / "axe_lsp"
    text = (ROOT / "server" / "ARCHITECTURE.md").read_text("utf-8")
    before, _, clients = text.partition("\n## Clients\n")
    text = before + clients.partition("\n## ")[2]
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))`", text)
    assert len(named) > 100
    missing = [each for each in named if not (package / each).exists()]
    assert not [each for each in missing if not (ROOT / each).exists()]


def test_docstrings_and_comments_name_modules_that_exist() -> None:
    package = ROOT / "server" / "axe_lsp"
    modules = list(package.rglob("*.py"))
    names = {each.name for each in modules} | {"manager.py"}  # a module of Mistral Vibe
    for module in modules:
        for named in re.findall(r"`(?:[a-z_]+/)*([a-z_]+\.py)`", module.read_text("utf-8")):
            assert named in names, f"{module.relative_to(package)} names {named}"


def test_the_architecture_names_files_of_clients_that_exist() -> None:
    text = (ROOT / "server" / "ARCHITECTURE.md").read_text("utf-8")
    rows = text.partition("## Clients")[2].partition("\n\n`clients/")[0].splitlines()
    header, _, *rows = [
        [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[2:-1]]
        for row in rows
        if row.startswith("|")
    ]
    assert len(rows) > 8
    for row in rows:
        for (folder,), named in zip(header, row, strict=True):
            for each in named:
                assert (ROOT / folder / each).exists(), f"{folder}{each}"


def test_there_is_no_page_of_a_diagnostic_that_does_not_exist() -> None:
    pages = generator().PAGES
    assert set(pages.iterdir()) <= set(generator().generated())


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name.rstrip("_"))


def section(title: str) -> str:
    text = (DOCS / "protocol.md").read_text("utf-8")
    _, *sections = text.split(f"\n### {title}\n")  # A request and a notification may share a name.
    assert sections, f"docs/protocol.md has no section {title}"
    return "".join(re.split(r"\n##+ ", each)[0] for each in sections)


EVENTS = [
    each for each in vars(events).values() if isinstance(each, type) and issubclass(each, Event)
]


@pytest.mark.parametrize("event", [each for each in EVENTS if each is not Event])
def test_the_protocol_page_names_every_member_of_every_notification(event: type[Event]) -> None:
    own = {*event.__struct_fields__} - {*Event.__struct_fields__}
    text = section(f"`{event.METHOD}`")
    for name in own:
        assert f"`{camel(name)}`" in text, (
            f"{event.METHOD} {event.__struct_config__.tag} has {camel(name)}"
        )


def test_the_protocol_page_names_every_member_of_a_result() -> None:
    text = section("`axe/run`")
    for name in RunResult.__struct_fields__:
        assert f"`{camel(name)}`" in text


def test_the_page_about_delegation_names_types_and_examples_as_they_are() -> None:
    text = (DOCS / "delegation.md").read_text("utf-8")
    for name, each in BUILT_IN_TYPES.items():
        tools = "all" if each.tools == ("*",) else ", ".join(f"`{tool}`" for tool in each.tools)
        assert f"| `{name}` | {each.description} | {tools} | {each.prompt} |" in text
    for name in EXAMPLES:
        assert f"| `{name}` | " in text
    _, example = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    definition = load(f'name = "a"\nmodel = "openai/m"\n{example}')
    assert definition.task is not None
    assert definition.task.offered == ("explore", "plan", "code", "reviewer", "test")


def pages() -> list[Path]:
    written = [*DOCS.glob("*.md"), *ROOT.glob("clients/*/README.md")]
    return [*written, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]


def test_links_between_pages_lead_somewhere() -> None:
    for page in pages():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_no_page_holds_both_sides_of_a_merge() -> None:
    for page in pages():
        assert not re.search(r"^(<{7}|={7}|>{7})( |$)", page.read_text("utf-8"), re.MULTILINE), page
