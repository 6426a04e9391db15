"""Problems of opencode's agents. Facts are those of opencode 1.18.34, recorded without network.

An error is a fault for which opencode does not start, leaves the file out, or loses its front matter: the agent then has no
limits, and the whole text is its prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from axe_lsp.agentfile.check import shapes
from axe_lsp.agentfile.check.front_matter import (
    check_keys,
    cut_by_comment,
    error,
    fields,
    parse_of,
    taken_as_property,
    unknown_keys,
    warning,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.check.shapes import Fault, Field, Shape
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.markdown_keys import OPENCODE_ACTIONS, OPENCODE_COLORS
from axe_lsp.agentfile.text.front_matter import LOST
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.tree import ValueKind

_STOPS = "opencode does not start, or leaves out the file in a folder `mode`"

_action = shapes.words(OPENCODE_ACTIONS)


def _rules(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.members is not None:
        for pattern, rule in field.members.items():
            yield from _action(rule, (*path, pattern))
    else:
        yield from _action(field, path)


_ACTION_ONLY = ("todowrite", "question", "webfetch", "websearch", "doom_loop")


def _permission(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.members is None:
        yield from _action(field, path)
        return
    for tool, rule in field.members.items():
        yield from (_action if tool in _ACTION_ONLY else _rules)(rule, (*path, tool))


SHAPES: Mapping[str, Shape] = {
    "description": shapes.text,
    "mode": shapes.words("subagent primary all"),
    "model": shapes.text,
    "variant": shapes.text,
    "temperature": shapes.number,
    "top_p": shapes.number,
    "tools": shapes.map_of(shapes.boolean),
    "permission": _permission,
    "steps": shapes.positive,
    "maxSteps": shapes.positive,
    "hidden": shapes.boolean,
    "disable": shapes.boolean,
    "color": shapes.words(OPENCODE_COLORS, pattern="#[0-9a-fA-F]{6}"),
    "options": shapes.mapping,
}
"""The shapes of keys, which agents in opencode.json have, too."""


def opencode_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file by itself."""
    yield from plain_secrets(lookup)
    parse = parse_of(lookup)
    if parse.parts.matter is None:
        yield from _not_seen(lookup)
        return
    found = fields(lookup)
    if not parse.problems:
        for fault in check_keys(found, SHAPES):
            yield error(fault._replace(message=f"{fault.message}: {_STOPS}"))
        yield from _name(found)
    yield from _effects(lookup, found)
    yield from cut_by_comment(lookup)
    yield from taken_as_property(lookup)


_COMMAND_SHAPES: Mapping[str, Shape] = {
    **dict.fromkeys(("description", "agent", "model", "variant"), shapes.text),
    "subtask": shapes.boolean,
}


def opencode_command(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of a command by itself."""
    yield from plain_secrets(lookup)
    parse, found = parse_of(lookup), fields(lookup)
    if parse.parts.matter is None:
        return
    for fault in check_keys(found, _COMMAND_SHAPES) if not parse.problems else ():
        yield error(fault._replace(message=f"{fault.message}: opencode does not start"))
    yield from _model(found)
    yield from unknown_keys(
        lookup, found, lambda name: f"opencode does not read {name}", {"template": ""}, is_free=True
    )
    yield from cut_by_comment(lookup)


def _not_seen(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problem of a text whose front matter is not seen. A text without any is an agent with all tools."""
    parse = parse_of(lookup)
    head = parse.text[:4000]
    if (
        "\n---" in f"\n{head}"
        or "\n--\n" in f"\n{head}"
        or head.lstrip().startswith(("---", "```yaml"))
    ):
        yield Problem("syntax", parse.first_line, f"{LOST}: {parse.parts.fault}", (), 0)
        return
    message = "opencode takes this file for an agent with all tools: there is no front matter"
    yield warning(parse.first_line, (), message)


def _name(found: Mapping[str, Field]) -> Iterator[Problem]:
    name = found.get("name")
    if name is not None and name.text is None and name.kind is not ValueKind.NULL:
        message = f"must be a text, not {shapes.found(name)}: the list of agents fails, and with it opencode"
        yield error(Fault(name.range, ("name",), message))


_EDITING = ("write", "apply_patch", "patch", "multiedit")
_CLAUDES = {
    "allowed-tools": "permission",
    "allowedTools": "permission",
    "disallowedTools": "permission",
    "permissionMode": "permission",
    "readonly": "permission",
    "tool": "tools",
    "disabled": "disable",
    "system": "",
    "permissions": "permission",
    "request": "",
    "max_steps": "steps",
    "maxTurns": "steps",
    "topP": "top_p",
}


def _effects(lookup: Lookup, found: Mapping[str, Field]) -> Iterator[Problem]:
    """Yield what loads and does not do what it says."""
    yield from unknown_keys(
        lookup,
        found,
        lambda name: f"opencode does not read {name}, and sends it to the provider as an option",
        _CLAUDES,
        is_free=True,
    )
    yield from _permission_effects(found)
    yield from _model(found)
    parse = parse_of(lookup)
    if "prompt" in found:
        message = (
            "`prompt` is not read in a Markdown file: the text below the front matter replaces it"
        )
        yield warning(found["prompt"].key, ("prompt",), message)
    if "steps" in found and "maxSteps" in found:
        yield warning(
            found["maxSteps"].key, ("maxSteps",), "`steps` counts, and `maxSteps` does not"
        )
    if parse.parts.end.start == parse.parts.end.end:
        message = "no line `---` ends the front matter: the prompt is empty"
        yield warning(parse.first_line, (), message)
    elif not parse.body.strip():
        yield warning(parse.parts.end, (), "there is no text below: opencode uses its own prompt")
    elif not parse.body.startswith(("\n", "\r\n")):
        rest = parse.body.partition("\n")[0].rstrip()
        if rest:
            yield warning(
                parse.parts.end,
                (),
                f"{quoted(rest[:40])} behind the `---` becomes part of the prompt",
            )


def _permission_effects(found: Mapping[str, Field]) -> Iterator[Problem]:
    permission = found.get("permission")
    rules = permission.members if permission is not None else None
    for tool, rule in (rules or {}).items():
        if tool in _EDITING:
            message = f"no tool asks for {quoted(tool)}: write, edit and apply_patch ask for `edit`"
            yield warning(rule.key, ("permission", tool), message)
        if tool == "*" and next(iter(rules or {})) != "*":
            message = "the last rule that matches counts: this one undoes those above it"
            yield warning(rule.key, ("permission", tool), message)


def _model(found: Mapping[str, Field]) -> Iterator[Problem]:
    model = found.get("model")
    if model is None or model.text is None:
        return
    provider, slash, name = model.text.partition("/")
    if not provider or not slash or not name:
        message = f"{quoted(model.text)} is not `provider/model`: each use of it fails"
        yield warning(model.range, ("model",), message)
