"""The skill, made. Folders and recordings are made in other ways, by who knows what goes into them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, unquote

from axe_lsp.features.edit import NewFile
from axe_lsp.features.fix import Case, Fix

_SUFFIX = ".md"
_USUAL = "/SKILL.md"


def fixes(case: Case) -> Iterator[Fix]:
    uri = _place(case) if case.finding.path == ("skill",) else ""
    if uri:
        name = unquote(uri.removesuffix(_USUAL).removesuffix(_SUFFIX).rpartition("/")[2])
        new = NewFile(uri, f"# {name}\n")
        yield Fix(f"Create the skill {name}", (new,), preferred=True)


def _place(case: Case) -> str:
    """Where the skill is looked for: where a path leads, or in the usual folder for a bare name."""
    written, found = case.file.outside.skill, case.snapshot.facts_about(case.file).skill
    if written is None or found is None:
        return ""
    if found.uri.endswith(_SUFFIX):
        return found.uri
    configuration = case.snapshot.places.user_folder.rpartition("/")[0]
    is_name = written.value.replace("-", "").replace("_", "").isalnum()
    usual = f"{configuration}/skills/{quote(written.value)}{_USUAL}"
    return usual if configuration and is_name else ""
