"""A setting of which its program warns when it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from axe_lsp.agentfile.check.codex_tables import STARTUP_WARNING
from axe_lsp.agentfile.dialects import HOOKS
from axe_lsp.agentfile.schema.nested import member_of
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, remove_key
from axe_lsp.features.rule import Dialects, Rule, once_looked, problems_of
from axe_lsp.workspace.agent_file import HOOKS_FILE, HOOKS_KEY, AgentFile
from axe_lsp.workspace.facts import Instructions
from axe_lsp.workspace.places import Place, Scope
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for problem in problems_of(file, STARTUP_WARNING):
        yield RULE.finding(problem.range, problem.message, path=problem.path)
    fault = snapshot.facts_about(file).contents.get((HOOKS, HOOKS_FILE))
    hooks = file.settings.members.get("hooks") if file.settings and file.settings.members else None
    if fault and hooks is not None:
        message = f"{HOOKS_FILE} next to this file {fault}; keep the hooks in one of them"
        yield RULE.finding(hooks.range, message, path=HOOKS_KEY)
    yield from _instructions(snapshot, file)


def _instructions(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    """Yield a finding if Codex does not read all instructions of the folder of a layer, or warns of their length.

    One file of a layer is about them.
    """
    place = file.place
    program = place.kind.schema.program
    settings = snapshot.layers.settings
    if not file.question.instructions or not snapshot.layers.is_about_layer(file):
        return
    limits = [
        node.value
        for each in (*snapshot.settings_below(place), file)
        if (node := member_of(each.settings, _BUDGET[0])) is not None
    ]
    limit = next((each for each in reversed(limits) if isinstance(each, int)), _USUAL_BUDGET)
    users, ours, below = _instruction_files(snapshot, file)
    folder, _, layer_name = place.layer.rpartition("/")
    root = snapshot.projects.get(place.layer) or folder
    cut = list(_cut(ours, limit, root))
    reported = (
        message
        for each, message in cut
        if each == folder or (program, f"{each}/{layer_name}") not in settings
    )
    whole = "" if cut else _long(users, sum(each.size for each in ours), limit, place)
    inner = "" if cut else _cut_below(ours, below, limit, root)
    own = member_of(file.settings, _BUDGET[0])
    where = own.range if own is not None else TextRange(0, 0)
    for message in filter(None, (next(reported, whole), inner)):
        yield RULE.finding(where, message, path=_BUDGET)


def _instruction_files(
    snapshot: Snapshot, file: AgentFile
) -> tuple[int, list[Instructions], list[Instructions]]:
    """Return the size of the user's file with instructions, those of the project, outer ones first, and those below."""
    layer = file.place.layer
    program = file.place.dialect.program
    home = dict(snapshot.places.homes).get(program.name, "") if program is not None else ""
    folder, root = layer.rpartition("/")[0], snapshot.projects.get(layer)
    files = snapshot.facts_about(file).instructions
    ours = [
        each
        for each in files
        if each.folder not in (home, layer)
        and f"{folder}/".startswith(f"{each.folder}/")
        and (each.folder == folder or (root and f"{each.folder}/".startswith(f"{root}/")))
    ]
    below = [each for each in files if each.folder.startswith(f"{folder}/")]
    below = [each for each in below if each.folder not in (home, layer)]
    return sum(each.size for each in files if each.folder == home), ours, below


def _cut_below(ours: list[Instructions], below: list[Instructions], limit: int, root: str) -> str:
    """Return the message about the first file in a folder below of which Codex does not read all; "" if it reads all."""
    messages = []
    for each in below:
        around = (other for other in below if f"{each.folder}/".startswith(f"{other.folder}/"))
        cut = _cut([*ours, *around], limit, root)
        messages += [message for folder, message in cut if folder == each.folder]
    if not messages:
        return ""
    further = f" (and {len(messages) - 1} more files below)" if len(messages) > 1 else ""
    return f"{messages[0]}{further}"


def _cut(files: Iterable[Instructions], limit: int, root: str) -> Iterator[tuple[str, str]]:
    """Yield the files of which Codex does not read all, by folder, with the message about each."""
    left = limit
    for each in files if limit > 0 else ():
        name = f"{unquote(each.folder.removeprefix(root))}/{each.name}".removeprefix("/")
        advice = f"shorten {{}}, or raise `{_BUDGET[0]}`"
        if not left:
            taken = f"outer files have the {limit:,} bytes that it reads"
            yield each.folder, f"Codex does not read {name}: {taken}; {advice.format('them')}"
        elif each.size > left:
            before = f" after {limit - left:,} of outer files" if left < limit else ""
            read = f"of which Codex reads the first {left:,}{before}"
            yield each.folder, f"{name} has {each.size:,} bytes, {read}; {advice.format('it')}"
        left = max(0, left - each.size)


def _long(users: int, ours: int, limit: int, place: Place) -> str:
    """Return the message about instructions that Codex reads as a whole, with a warning; "" if they are short.

    The user's file alone is the matter of the user's settings.
    """
    is_users = place.scope is Scope.USER
    if not 0 < limit < users + ours or (users > limit) is not is_users:
        return ""
    files = (
        "AGENTS.md in this folder has"
        if is_users
        else "AGENTS.md of the user and of this project have"
    )
    return f"{files} {users + ours:,} bytes, more than the {limit:,} of `{_BUDGET[0]}`; Codex reads them all and warns"


_BUDGET = ("project_doc_max_bytes",)
_USUAL_BUDGET = 32_768


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the file without the setting, unless other settings need it."""
    path = case.finding.path
    if path[:1] != ("permissions",) and path[-1:] != ("command",) and path != _BUDGET:
        yield from remove_key(case)


RULE = Rule(
    code=STARTUP_WARNING,
    severity=Severity.WARNING,
    summary="A setting of which Codex warns when it starts.",
    documentation="""
Codex starts with such a setting and shows a warning: a feature that is under development, a model without metadata, an
unknown service tier, a path of `[permissions]` that it does not know, a hook that it skips, hooks in both config.toml
and hooks.json, an AGENTS.md beyond `project_doc_max_bytes`, which counts the bytes of all files from the root of the
project to the folder where Codex starts; a finding about that is in the settings of the folder, or without settings
in its first agent. An AGENTS.md of a folder without `.codex` is reported in the settings of the nearest folder above
that has some. `suppress_unstable_features_warning = true` hides the warning about features.

```toml
[features]
artifact = true    # under development
```
""",
    is_for=Dialects.OTHERS,
    check=check,
    fixes=fixes,
    is_settled=once_looked,
)
