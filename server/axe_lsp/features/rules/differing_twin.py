"""An agent whose prompt or description differs from that of the same agent for another program."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from axe_lsp.agentfile.dialects import program_title
from axe_lsp.agentfile.text.ranges import (
    TextRange,
    common_beginning,
    common_end,
)
from axe_lsp.features.describe import differences
from axe_lsp.features.edit import Edit, TextChange
from axe_lsp.features.finding import Finding, Related, Severity
from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rule import Dialects, Rule, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_FIELDS = ("description", "prompt")
_MOST_NAMED = 4
"""Lost keys that a title names."""


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    differing = [(twin, differences(file, twin)) for twin in snapshot.twins(file)]
    differing = [(twin, fields) for twin, fields in differing if fields]
    if not differing:
        return
    fields = [each for each in _FIELDS if any(each in found for _, found in differing)]
    titles = [program_title(twin.place.dialect.program) for twin, _ in differing]
    verb, those = ("differ", "those") if len(fields) > 1 else ("differs", "that")
    yield RULE.finding(
        file.start,
        f"the {' and '.join(fields)} {verb} from {those} of the same agent for {', '.join(titles)}",
        related=tuple(Related(twin.uri, twin.start, _shown(twin)) for twin, _ in differing),
    )


def _shown(twin: AgentFile) -> str:
    return unquote(twin.uri).removeprefix(f"{unquote(twin.place.project)}/")


def fixes(case: Case) -> Iterator[Fix]:
    """Yield for each twin that differs: its texts in place of those here, and the other way round."""
    for twin in case.snapshot.twins(case.file):
        fields = differences(case.file, twin)
        if fields:
            yield from _carried(case, twin, fields, is_source=True)
            yield from _carried(case, twin, fields, is_source=False)


def _carried(case: Case, twin: AgentFile, fields: list[str], *, is_source: bool) -> Iterator[Fix]:
    """Yield the fix that carries the fields of one file over to the other one, if that can be done."""
    # Late, as few files have twins.
    from axe_lsp.agentfile.convert.carry_over import TwinFile, carry_over
    from axe_lsp.agentfile.convert.conversion import FORMATS, stem_of
    from axe_lsp.agentfile.convert.intermediate import ConversionError

    def read(file: AgentFile, text: str) -> TwinFile:
        program = file.place.dialect.program
        return TwinFile(
            text, stem_of(unquote(file.uri)), FORMATS["axe" if program is None else program.name]
        )

    own, other = read(case.file, case.text), read(twin, case.context.text_of(twin.uri))
    source, target = (own, other) if is_source else (other, own)
    try:
        new = carry_over(source, target, fields)
    except ConversionError:
        return
    if not new.carried or new.text == target.text:
        return
    words = " and ".join(fields)
    lost = list(dict.fromkeys(each.key for each in new.lost)) if is_source else []
    without = f" (without {', '.join(lost[:_MOST_NAMED])})" if lost else ""
    title = (
        f"Carry the {words} over to {target.format.title} ({_shown(twin)}){without}"
        if is_source
        else f"Take the {words} of {source.format.title} ({_shown(twin)})"
    )
    yield Fix(title, _edit((twin if is_source else case.file).uri, target.text, new.text))


def _edit(uri: str, old: str, new: str) -> Edit:
    start = common_beginning(old, new)
    end = common_end(old[start:], new[start:])
    return (TextChange(uri, TextRange(start, len(old) - end), new[start : len(new) - end]),)


RULE = Rule(
    code="differing-twin",
    severity=Severity.HINT,
    summary="The same agent for another program has another prompt or description.",
    documentation="""
Agents of one name in the folders of several programs of a project (`.claude/agents`, `.codex/agents`,
`.github/agents`, `.opencode/agent`, `.gemini/agents`, `.vibe/agents`, `axe/agents`) are taken for the same agent. The
prompts are compared without white space around them, and descriptions word by word. The fixes carry the texts over, in
both directions, and leave all other keys as they are; `axe-lsp sync NAME --from FILE` also carries tools and limits over.
""",
    check=check,
    fixes=fixes,
    is_for=Dialects.ALL,
    is_settled=once_complete,
)
