"""Problems of Codex's files that the rows of their schemas can't express.

Recorded with Codex 0.169. A fatal problem of an agent file makes Codex drop the file, and one of config.toml
keeps Codex from starting; a warning is about something that Codex takes and that has not the effect that
the file suggests. What needs other files is left to the rules in `features/rules/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.codex_names import EFFORTS, MODELS
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, KeyType, Schema
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import ValueKind

INSTRUCTIONS: KeyPath = ("developer_instructions",)
DESCRIPTION: KeyPath = ("description",)
NICKNAMES = "nickname_candidates"
DECLARED_AGENTS = "agents"

_NICKNAME = re.compile(r"[A-Za-z0-9 _-]+")
_RESERVED_PROVIDERS = ("openai", "ollama", "lmstudio")
_AWS_PROVIDERS = ("amazon-bedrock", "amazon-bedrock-runtime")
_STDIO_ONLY = ("args", "env", "env_vars", "cwd")
_HTTP_ONLY = (
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "http_headers_helper",
    "auth",
    "oauth",
    "oauth_resource",
)
_OTHER_TOOLS_MODELS = ("inherit", "sonnet", "opus", "haiku", "fable")
_EFFORT_KEYS: tuple[KeyPath, ...] = (
    ("model_reasoning_effort",),
    ("plan_mode_reasoning_effort",),
    (DECLARED_AGENTS, "default_subagent_reasoning_effort"),
)


def codex_agent(lookup: Lookup) -> Iterator[Problem]:
    """The problems of an agent file by itself."""
    yield from _of_any(lookup)
    for path in (DESCRIPTION, INSTRUCTIONS):
        value = lookup.decoded(path)
        if isinstance(value, str) and not value.strip():
            yield _fault(lookup, path, "missing-key", f"{path[0]} must not be blank")
    yield from _nicknames(_node(lookup, NICKNAMES), (NICKNAMES,))
    yield from without_effect(lookup)


def codex_config(lookup: Lookup) -> Iterator[Problem]:
    """The problems of config.toml by itself."""
    yield from _of_any(lookup)
    agents = _node(lookup, DECLARED_AGENTS)
    for name, agent in _tables(agents).items():
        if lookup.schema.find((DECLARED_AGENTS, name)) is not _any_agent(lookup.schema):
            continue
        path = (DECLARED_AGENTS, name)
        description = _members(agent).get("description")
        if description is not None and _is_blank(description):
            yield _at(description, (*path, "description"), "must not be blank", "missing-key")
        yield from _nicknames(_members(agent).get(NICKNAMES), (*path, NICKNAMES))


@cache
def _any_agent(schema: Schema) -> KeySpec:
    return schema.key((DECLARED_AGENTS, ANY_NAME))


def _of_any(lookup: Lookup) -> Iterator[Problem]:
    yield from missing_in_tables(lookup)
    yield from _servers(lookup)
    yield from _providers(lookup)
    yield from _approvals(lookup)
    yield from _hooks(lookup)
    yield from _workspace_ids(lookup)
    yield from _efforts(lookup)
    yield from _models(lookup)
    yield from _skills(lookup)
    yield from _flags(lookup)
    yield from _numbers(lookup)
    yield from _dates(lookup)


# -- faults


def _nicknames(node: Node | None, path: KeyPath) -> Iterator[Problem]:
    if node is None or node.items is None:
        return
    if not node.items:
        yield _at(node, path, "must not be empty")
    seen: set[str] = set()
    for item in node.items:
        if not isinstance(item.value, str):
            continue
        name = item.value.strip()
        if not name:
            yield _at(item, path, "must not hold a blank name")
        elif not _NICKNAME.fullmatch(name):
            allowed = "ASCII letters, digits, spaces, `-` and `_`"
            yield _at(item, path, f"may only hold {allowed}; got {quoted(name)}")
        elif name in seen:
            yield _at(item, path, f"holds {quoted(name)} twice")
        seen.add(name)


def missing_in_tables(lookup: Lookup) -> Iterator[Problem]:
    """Required keys of tables, wherever such a table is written."""
    if lookup.parse.problems:
        return  # They may be among what can't be read.
    for root in _roots_with_required(lookup.schema):
        if lookup.has((root,)):
            node = nested(lookup, (root,))
            if node is not None:
                yield from _missing_in(lookup, node, (root,))


@cache
def _roots_with_required(schema: Schema) -> tuple[str, ...]:
    needing = (key.path[0] for key in schema.keys if key.required and len(key.path) > 1)
    return tuple(dict.fromkeys(needing))


def _missing_in(lookup: Lookup, node: Node, path: KeyPath) -> Iterator[Problem]:
    for item in node.items or ():
        yield from _missing_in(lookup, item, path)
    if node.members is None:
        return
    needed = [key.path[-1] for key in lookup.schema.keys_of(path) if key.required]
    missing = [name for name in needed if name not in node.members]
    if missing:
        names = " and ".join(f"`{name}`" for name in missing)
        yield _at(node, (*path, missing[0]), f"is missing: the table needs {names}", "missing-key")
    for name, member in node.members.items():
        if lookup.schema.find((*path, name)) is not None:
            yield from _missing_in(lookup, member, (*path, name))


def _servers(lookup: Lookup) -> Iterator[Problem]:
    for name, server in _tables(_node(lookup, "mcp_servers")).items():
        path, members = ("mcp_servers", name), _members(server)
        if "command" not in members and isinstance(_value(members, "bearer_token"), str):
            message = "is not supported: name an environment variable in `bearer_token_env_var`"
            yield _at(members["bearer_token"], (*path, "bearer_token"), message)
        if "command" not in members and "url" not in members:
            if not lookup.parse.problems:
                message = "needs a `command` to start, or the `url` of a server"
                yield _at(server, path, message, "missing-key")
            continue
        kind, others = ("stdio", _HTTP_ONLY) if "command" in members else ("http", _STDIO_ONLY)
        for key in others:
            if key in members:
                message = f"is not supported for a server by {kind}"
                yield _at(members[key], (*path, key), message)
        helper = members.get("http_headers_helper")
        if helper is not None and _is_blank(helper):
            yield _at(helper, (*path, "http_headers_helper"), "must not be blank")


def _providers(lookup: Lookup) -> Iterator[Problem]:
    for name, provider in _tables(_node(lookup, "model_providers")).items():
        path, members = ("model_providers", name), _members(provider)
        if name in _RESERVED_PROVIDERS:
            message = "is built in and can't be defined again; choose another name"
            yield _at(provider, path, message)
        if "name" in members and _is_blank(members["name"]):
            yield _at(members["name"], (*path, "name"), "must not be blank", "missing-key")
        if "aws" in members and name not in _AWS_PROVIDERS:
            message = f"is only supported for {' and '.join(_AWS_PROVIDERS)}"
            yield _at(members["aws"], (*path, "aws"), message)
        auth = members.get("auth")
        command = _members(auth).get("command")
        if command is not None and _is_blank(command):
            yield _at(command, (*path, "auth", "command"), "must not be blank")
        if auth is not None and "env_key" in members:
            yield _at(auth, (*path, "auth"), "and `env_key` exclude each other")


def _approvals(lookup: Lookup) -> Iterator[Problem]:
    node = _node(lookup, "approval_policy")
    if node is not None and node.members is not None and set(node.members) != {"granular"}:
        message = "takes one table, `granular`"
        yield _at(node, ("approval_policy",), message)


def _hooks(lookup: Lookup) -> Iterator[Problem]:
    for event, entries in _members(_node(lookup, "hooks")).items():
        for entry in entries.items or ():
            hooks = _members(entry).get("hooks") or Node(entry.range)
            for hook in hooks.items or ():
                yield from _hook(lookup, hook, ("hooks", event, "hooks"))


def _hook(lookup: Lookup, hook: Node, place: tuple[str, ...]) -> Iterator[Problem]:
    members = _members(hook)
    kind = str(_value(members, "type"))
    for needed in _NEEDED_BY_HOOK.get(kind, ()):
        path = (*place, needed)
        if needed not in members:
            if not lookup.parse.problems:
                yield _at(hook, path, "is missing", "missing-key")
        elif kind == "mcp_tool" and not isinstance(_value(members, needed), str):
            yield _at(members[needed], path, "must be a string", "wrong-type")
    given = members.get("input")
    if kind == "mcp_tool" and given is not None and given.members is None:
        yield _at(given, (*place, "input"), "must be a table", "wrong-type")


_NEEDED_BY_HOOK = {"command": ("command",), "mcp_tool": ("server", "tool")}


def _workspace_ids(lookup: Lookup) -> Iterator[Problem]:
    path = ("forced_chatgpt_workspace_id",)
    value = lookup.decoded(path)
    if isinstance(value, str) and "," in value:
        yield _fault(lookup, path, "out-of-range", f"{path[0]} takes one id; several are an array")


# -- warnings


def _efforts(lookup: Lookup) -> Iterator[Problem]:
    model = lookup.decoded(("model",))
    known = MODELS.get(model, EFFORTS) if isinstance(model, str) else EFFORTS
    for path in _EFFORT_KEYS:
        effort, key = lookup.decoded(path), ".".join(path)
        if effort == "":
            yield _fault(lookup, path, "out-of-range", f"{key} must not be empty")
        elif isinstance(effort, str) and effort not in known:
            whose = f"the model {quoted(model)}" if effort in EFFORTS else "any model"
            message = (
                f"{quoted(effort)} is not an effort of {whose}, so every spawn of the agent fails; "
                f"known are {', '.join(known)}"
            )
            yield _warning(lookup, path, message)


def _models(lookup: Lookup) -> Iterator[Problem]:
    for path in (("model",), ("review_model",)):
        model = lookup.decoded(path)
        if not isinstance(model, str):
            continue
        if not model.strip():
            yield _warning(
                lookup, path, f"{path[0]} is blank; leave the key out to use the parent's"
            )
        elif model in _OTHER_TOOLS_MODELS:
            message = (
                f"{quoted(model)} is a word of other tools; Codex asks for a model of that name"
            )
            yield _warning(lookup, path, message)
        elif "/" in model and not lookup.has(("model_provider",)):
            message = (
                f"Codex takes the model's name without a provider: {quoted(model.split('/', 1)[1])}"
            )
            yield _warning(lookup, path, message)


def _skills(lookup: Lookup) -> Iterator[Problem]:
    entries = _members(_node(lookup, "skills")).get("config")
    for entry in (entries.items if entries is not None else None) or ():
        members = _members(entry)
        chosen = [key for key in ("path", "name") if key in members]
        if len(chosen) != 1 and "enabled" in members:
            message = "skills.config needs either a `path` or a `name`; Codex ignores this entry"
            yield warned(entry.range, ("skills", "config"), message)
        for key in chosen:
            if _is_blank(members[key]):
                message = f"skills.config.{key} is blank; the entry selects nothing"
                yield warned(members[key].range, ("skills", "config", key), message)


def _flags(lookup: Lookup) -> Iterator[Problem]:
    for name in _members(_node(lookup, "features")):
        spec = lookup.schema.find(("features", name))
        where = lookup.place(("features", name))
        if spec is not None and spec.path[-1] == ANY_NAME and where is not None:
            message = f"unknown key {quoted(f'features.{name}')}"
            yield Problem("unknown-key", where, message, ("features", name), 0, fatal=False)


def _numbers(lookup: Lookup) -> Iterator[Problem]:
    for key in ("model_context_window", "model_auto_compact_token_limit"):
        value = lookup.decoded((key,))
        if isinstance(value, int) and value < 0:
            yield _warning(lookup, (key,), f"{key} is negative")
    key = "model_post_turn_compact_threshold_percent"
    value = lookup.decoded((key,))
    if isinstance(value, int) and 100 < value <= 255:
        yield _warning(lookup, (key,), f"{key} is above 100 percent")


def _dates(lookup: Lookup) -> Iterator[Problem]:
    for item in lookup.located:
        value = item.entry.value
        if value is None or value.kind is not ValueKind.DATETIME:
            continue
        spec = lookup.schema.find(item.path)
        if spec is not None and spec.type is KeyType.STRING:
            message = f"{'.'.join(item.path)} is a date; Codex takes it as text. Write it in quotes"
            yield warned(value.range, item.path, message, "wrong-type")


def without_effect(lookup: Lookup) -> Iterator[Problem]:
    """The keys that may be written and have no effect."""
    for spec in _without_use(lookup.schema):
        where = lookup.place(spec.path)
        if where is not None:
            message = f"{spec.dotted} of an agent has no effect. {spec.no_effect}"
            yield warned(where, spec.path, message, "no-effect")


@cache
def _without_use(schema: Schema) -> tuple[KeySpec, ...]:
    return tuple(key for key in schema.keys if key.no_effect)


# -- helpers


def _node(lookup: Lookup, name: str) -> Node | None:
    """A key of the file with all keys below it, None without it. `has` is asked first, since it is cheaper."""
    return nested(lookup, (name,)) if lookup.has((name,)) else None


def _members(node: Node | None) -> Mapping[str, Node]:
    return (node.members if node is not None else None) or {}


def _tables(node: Node | None) -> Mapping[str, Node]:
    return {name: each for name, each in _members(node).items() if each.members is not None}


def _value(members: Mapping[str, Node], key: str) -> object:
    return members[key].value if key in members else None


def _is_blank(node: Node) -> bool:
    return isinstance(node.value, str) and not node.value.strip()


def _at(node: Node, path: KeyPath, message: str, code: str = "out-of-range") -> Problem:
    return Problem(code, node.range, f"{'.'.join(path)} {message}", path, 0)


def _fault(lookup: Lookup, path: KeyPath, code: str, message: str) -> Problem:
    return Problem(code, _value_range(lookup, path), message, path, 0)


def _warning(lookup: Lookup, path: KeyPath, message: str) -> Problem:
    return warned(_value_range(lookup, path), path, message)


def warned(where: TextRange, path: KeyPath, message: str, code: str = "out-of-range") -> Problem:
    return Problem(code, where, message, path, 0, fatal=False, is_warning=True)


def _value_range(lookup: Lookup, path: KeyPath) -> TextRange:
    value = lookup.value(path)
    return value.range if value is not None else TextRange(0, 0)
