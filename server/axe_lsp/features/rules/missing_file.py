"""A path that leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, unquote

from axe_lsp.agentfile.dialects import RULES
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.features.edit import NewFile
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rule import Dialects, Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import PROMPT, RECORDING, RULES_FOLDER, AgentFile
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts = snapshot.facts_about(file)
    yield from _skill(file, facts)
    yield from _skills(file, facts)
    yield from _workdir(file, facts)
    yield from _recording(file, facts)
    yield from _paths(file, facts)
    fault = facts.contents.get((RULES, RULES_FOLDER))
    if fault:
        message = f"{fault}; {file.schema.program} does not start"
        yield RULE.finding(TextRange(0, 0), message, severity=Severity.ERROR)


def _paths(file: AgentFile, facts: Facts) -> Iterator[Finding]:
    kinds = file.place.dialect.read_at_start if not file.place.kind.is_agent else {}
    for written in file.outside.paths:
        found = facts.paths.get(written.value)
        kind = kinds.get(written.key)
        if found is None:
            continue
        if kind is not None:
            fault = (
                "does not exist" if not found.exists else facts.contents.get((kind, written.value))
            )
            if fault:
                message = f"{found.shown} {fault}; {file.schema.program} does not start"
                yield RULE.finding(
                    written.range, message, severity=Severity.ERROR, path=written.key
                )
        elif not found.exists:
            message = f"there is no {_MISSING.get(written.key, _FILE).format(found.shown)}"
            yield RULE.finding(written.range, message, path=written.key)


_FILE = "file {}; a path starts at the folder of this file"
_MISSING = {
    RECORDING: "recording {}; `axe-lsp test --record` makes it",
    PROMPT: "file {}; Gemini CLI sends the placeholder as it stands",
}
"""What a path leads to, and what follows if nothing is there."""


def _skill(file: AgentFile, facts: Facts) -> Iterator[Finding]:
    written, skill = file.outside.skill, facts.skill
    is_missing = skill is not None and not skill.exists and not facts.skill_fault
    if written is not None and skill is not None and is_missing:
        message = f"skill not found: {skill.shown}{_hint(written.value)}"
        yield RULE.finding(written.range, message, path=("skill",))


def _skills(file: AgentFile, facts: Facts) -> Iterator[Finding]:
    """Yield the skills of Claude Code that are neither the project's nor the user's. It may have one of that name itself."""
    for written in file.outside.skills:
        skill = facts.skills.get(written.value)
        if skill is not None and not skill.exists:
            message = (
                f"there is no skill or command {quoted(written.value)} in `.claude` of the project and the user; "
                "unless Claude Code has it, the agent starts without"
            )
            yield RULE.finding(
                written.range, message, severity=Severity.INFORMATION, path=written.key
            )


def _workdir(file: AgentFile, facts: Facts) -> Iterator[Finding]:
    written, folder = file.outside.workdir, facts.folder
    if written is None or not written.value or folder is None or not facts.is_certain:
        return
    if not folder.exists:
        message = f"there is no folder {folder.shown}, so a run finds no files"
        yield RULE.finding(written.range, message, path=("workdir",))


def _recording(file: AgentFile, facts: Facts) -> Iterator[Finding]:
    recording = facts.recording
    if file.model is not None and recording is not None and not recording.uri:
        name = file.model.value.partition("/")[2]
        places = ", ".join(recording.searched)
        message = f"recording {quoted(name)} not found (looked for {name}.toml in {places})"
        yield RULE.finding(file.model.range, message, path=("model",))


def _hint(skill: str) -> str:
    is_relative = not skill.startswith(("/", "~", "$"))
    return "; a relative path starts at the folder of axe's configuration" if is_relative else ""


_SUFFIX = ".md"
_USUAL = "/SKILL.md"


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the skill, made. Folders and recordings are made in other ways, by who knows what goes into them."""
    uri = _place(case) if case.finding.path == ("skill",) else ""
    if uri:
        name = unquote(uri.removesuffix(_USUAL).removesuffix(_SUFFIX).rpartition("/")[2])
        new = NewFile(uri, f"# {name}\n")
        yield Fix(f"Create the skill {name}", (new,), preferred=True)


def _place(case: Case) -> str:
    """Return where the skill is looked for: where a path leads, or in the usual folder for a bare name."""
    written, found = case.file.outside.skill, case.snapshot.facts_about(case.file).skill
    if written is None or found is None:
        return ""
    if found.uri.endswith(_SUFFIX):
        return found.uri
    configuration = case.snapshot.places.user_folder.rpartition("/")[0]
    is_name = written.value.replace("-", "").replace("_", "").isalnum()
    usual = f"{configuration}/skills/{quote(written.value)}{_USUAL}"
    return usual if configuration and is_name else ""


RULE = Rule(
    code="missing-file",
    severity=Severity.WARNING,
    summary="A skill, a working directory or a recording does not exist.",
    is_failure=True,
    documentation="""
A run of the agent fails with `skill not found`, finds none of its files, or has no recording to
replay. A relative `skill` starts at the folder of axe's configuration (`$XDG_CONFIG_HOME/axe`,
usually `~/.config/axe`), where a bare name such as `review` also means `skills/review/SKILL.md`. A
relative `workdir` starts at the folder in which the run is started; in the editor this is the
workspace folder.

```toml
skill = "skills/reviw/SKILL.md"
workdir = "no/such/folder"
model = "replay/never-recorded"
```

An agent of Claude Code may name skills that Claude Code itself or a plugin has, so a name in `skills` that is not found
is an information.

The editor checks this for open files and for settings of Codex, in the background. It is an error in a config.toml of Codex if Codex does
not start without the file: `model_instructions_file`, `experimental_compact_prompt_file`, `model_catalog_json`. So is a
fault in `rules/*.rules` next to it, which are evaluated as Codex does it: names without a value, wrong arguments, and
examples (`match`, `not_match`) that contradict their pattern.
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_for=Dialects.ALL,
    is_settled=once_looked,
)
