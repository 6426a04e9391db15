"""An agent file that its program does not load."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.features.finding import Finding, Related, Severity
from axe_lsp.features.fix import Case, Fix, change
from axe_lsp.features.rule import Dialects, Rule, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.layers import file_of
from axe_lsp.workspace.snapshot import Snapshot

_TOP = TextRange(0, 0)


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if not file.place.layer:
        return
    if not file.place.kind.is_agent:
        yield from _declarations(snapshot, file)
        return
    layers = snapshot.layers
    if file.place.stem.casefold() in file.place.dialect.reserved:
        message = (
            f"{file.schema.program} reserves the name {quoted(file.place.stem)}; rename the file"
        )
        yield RULE.finding(_TOP, message)
        return
    if any(each.code == "syntax" for each in file.problems):
        return
    program = file.schema.program
    missing = _not_inherited(snapshot, file, layers.lacking(file))
    if missing:
        keys = " and ".join(f"`{each}`" for each in missing)
        verb = "is" if len(missing) == 1 else "are"
        message = f"{keys} {verb} missing; {program} ignores the file"
        where = file.start if missing == ("name",) else _TOP
        yield RULE.finding(where, message, path=(missing[0],))
    elif layers.is_whole(file) and file.place.kind.syntax is None:
        yield from _taken(snapshot, file, program)


def _not_inherited(
    snapshot: Snapshot, file: AgentFile, missing: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the keys without the description, if an agent of the same name in a lower layer has one."""
    if "description" not in missing:
        return missing
    key = snapshot.layers.key_of(file)
    has_one = key is not None and _is_described_below(snapshot, file, key[1])
    return tuple(each for each in missing if each != "description" or not has_one)


def _is_described_below(snapshot: Snapshot, file: AgentFile, name: str) -> bool:
    """Return whether an agent of a name has a description in a layer below that of `file`."""
    uris = snapshot.layers.names.get((file.schema.program, name), ())
    files = [each for uri in uris if (each := snapshot.file(uri)) is not None]
    if any(
        each.description.strip() and snapshot.is_below(each.place.layer, file.place)
        for each in files
    ):
        return True
    return any(
        declared.name.strip() == name and declared.has_description
        for settings in snapshot.settings_below(file.place)
        for declared in settings.declarations
    )


def _taken(snapshot: Snapshot, file: AgentFile, program: str) -> Iterator[Finding]:
    """Yield a finding if another file of the layer has the name and comes first."""
    layers = snapshot.layers
    key = layers.key_of(file)
    uris = layers.names.get(key, ()) if key is not None else ()
    if len(uris) < 2:
        return
    alike = [
        each
        for uri in uris
        if (each := snapshot.file(uri)) is not None
        and each.place.layer == file.place.layer
        and layers.is_whole(each)
    ]
    first = min(alike, key=layers.rank)
    if first.uri == file.uri or (file.uri in layers.declared and first.uri in layers.declared):
        return
    assert key is not None
    message = (
        f"another file has the name {quoted(key[1])} and comes first; {program} ignores this one"
    )
    related = (Related(first.uri, first.start, "this one is used"),)
    yield RULE.finding(file.start, message, related=related)


def _declarations(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    """Report declared agents without a file, or without a description."""
    for each in file.declarations:
        program = file.schema.program
        uri = file_of(file, each)
        declared = snapshot.file(uri) if uri else None
        if uri and declared is None:
            message = f"there is no file {quoted(each.file)} next to this one; {program} ignores the agent"
            yield RULE.finding(each.file_range or each.range, message)
        elif not (
            each.has_description
            or (declared is not None and declared.description.strip())
            or _is_described_below(snapshot, file, each.name.strip())
        ):
            if declared is not None and declared.problems:
                continue  # There is enough to say about that file.
            message = f"the agent {quoted(each.name)} has no description; {program} ignores it"
            yield RULE.finding(each.range, message)


def _usual(key: str, stem: str) -> str:
    """Return a value for a key that is missing."""
    texts = {"name": stem, "description": f"When to use {stem}."}
    return texts.get(key, "Describe what the agent does, step by step.")


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a line with the key that is missing."""
    if not case.finding.path:
        return
    key = case.finding.path[0]
    if case.lookup.has((key,)):
        return  # It is blank.
    value = splices.literal(_usual(key, case.file.place.stem))
    splice = splices.first_line(case.lookup.parse, f"{key} = {value}")
    yield change(case, f"Add `{key}`", splice, preferred=True, guess=value[1:-1])


RULE = Rule(
    code="dropped-agent",
    severity=Severity.ERROR,
    summary="The program whose file it is does not load the agent.",
    is_failure=True,
    documentation="""
Codex ignores an agent file without `name`, `description` or `developer_instructions`, unless
`[agents]` of config.toml declares the agent and its table has what the file lacks. Of several files
with one name in one `.codex` folder it loads the declared one, else the first in the order of paths.
A `config_file` starts at the folder of its config.toml and must be a file.

```toml
name = "reviewer"
description = "Reviews a change before it is merged."
developer_instructions = "Read the diff. Report faults with file and line."
```
""",
    is_for=Dialects.OTHERS,
    check=check,
    fixes=fixes,
    is_settled=once_complete,
)
