"""Problems of Codex's files that the rows of their schemas can't express.

Recorded with Codex 0.171. A fatal problem of an agent file makes Codex drop the file, and one of config.toml
keeps Codex from starting; a warning is about something that Codex takes and that has not the effect that
the file suggests, or of which Codex itself warns at its start. Codex merges the layers of config.toml before it
looks at what belongs together, which `codex_layers.py` does; other files are left to the rules in `features/rules/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from axe_lsp.agentfile.check.codex_network import gateway_problems
from axe_lsp.agentfile.check.codex_tables import (
    BUILT_IN_PROVIDERS,
    DECLARED_AGENTS,
    STARTUP_WARNING,
    approval_problems,
    effort_problems,
    is_blank,
    members_of,
    missing_keys,
    node_at,
    problem_at,
    provider_problems,
    roots_with_required,
    server_problems,
    tables_in,
    value_at,
    warning_at,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.schema.codex_names import SERVICE_TIERS, SINCE
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, KeyType, Schema
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import ValueKind

INSTRUCTIONS: KeyPath = ("developer_instructions",)
DESCRIPTION: KeyPath = ("description",)
NICKNAMES = "nickname_candidates"

_NICKNAME = re.compile(r"[A-Za-z0-9 _-]+")
_OTHER_TOOLS_MODELS = ("inherit", "sonnet", "opus", "haiku", "fable")
_PERCENT: KeyPath = ("model_post_turn_compact_threshold_percent",)
_ENDPOINT: KeyPath = ("experimental_thread_store_endpoint",)
_THREAD_LIMITS = ("max_threads", "max_concurrent_threads_per_session")
"""Two names of one key."""


def codex_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file by itself."""
    yield from plain_secrets(lookup)
    yield from _of_any(lookup)
    for path in (DESCRIPTION, INSTRUCTIONS):
        value = lookup.decoded(path)
        if isinstance(value, str) and not value.strip():
            yield _fault(lookup, path, "missing-key", f"{path[0]} must not be blank")
    yield from _nicknames(_node(lookup, NICKNAMES), (NICKNAMES,))
    yield from missing_in_tables(lookup)
    is_whole = not lookup.parse.problems
    yield from server_problems(_node(lookup, "mcp_servers"), is_whole=is_whole)
    providers = _node(lookup, "model_providers")
    yield from provider_problems(providers, is_whole=is_whole)
    yield from gateway_problems(providers, is_whole=is_whole)
    yield from approval_problems(_node(lookup, "approval_policy"))
    yield from effort_problems(_efforts(lookup), "every spawn of the agent fails")
    yield from _models(lookup)
    percent = lookup.decoded(_PERCENT)
    if isinstance(percent, int) and 100 < percent <= 255:
        yield _warning(lookup, _PERCENT, f"{_PERCENT[0]} is above 100 percent")
    yield from without_effect(lookup)


def codex_project_config(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of a project's config.toml by itself."""
    yield from _of_config(lookup)
    if lookup.decoded(("features", "use_xaa")) is True:
        message = "features.use_xaa can only be switched on in the user's config.toml"
        yield _fault(lookup, ("features", "use_xaa"), "out-of-range", message)
    yield from without_effect(lookup, "a project")


def codex_user_config(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of the user's own config.toml by itself."""
    yield from _of_config(lookup)
    providers = _node(lookup, "model_providers")
    yield from provider_problems(providers, is_whole=not lookup.parse.problems)
    yield from gateway_problems(providers, is_whole=not lookup.parse.problems)
    provider, known = (
        lookup.decoded(("model_provider",)),
        (*BUILT_IN_PROVIDERS, *members_of(providers)),
    )
    if isinstance(provider, str) and provider not in known:
        message = f"model_provider {quoted(provider)} is not defined; known are {', '.join(known)}"
        yield _fault(lookup, ("model_provider",), "out-of-range", message)
    if lookup.value(("profile",)) is not None:
        message = (
            "profile is no longer supported: use `--profile NAME` with a file NAME.config.toml"
        )
        yield _fault(lookup, ("profile",), "out-of-range", message)
    status_line: KeyPath = ("tui", "status_line_provider")
    where = lookup.place(status_line)
    if where is not None and not _is_status_line(lookup, status_line):
        message = "tui.status_line_provider is invalid; Codex uses the built-in status line"
        yield warning_at(where, status_line, message, STARTUP_WARNING)


def _is_status_line(lookup: Lookup, path: KeyPath) -> bool:
    """Return whether a provider of the status line is `default`, or a table of an MCP server and its tool."""
    node = node_at(_node(lookup, path[0]), path[1])
    return value_at(node) == "default" or {"server", "tool"} <= members_of(node).keys()


def _of_config(lookup: Lookup) -> Iterator[Problem]:
    yield from _of_any(lookup)
    agents = _node(lookup, DECLARED_AGENTS)
    for name, agent in tables_in(agents).items():
        if lookup.schema.find((DECLARED_AGENTS, name)) is not _any_agent(lookup.schema):
            continue
        path = (DECLARED_AGENTS, name)
        description = node_at(agent, "description")
        if description is not None and is_blank(description):
            message = "must not be blank"
            yield problem_at(description, (*path, "description"), message, "missing-key")
        yield from _nicknames(node_at(agent, NICKNAMES), (*path, NICKNAMES))
    if set(_THREAD_LIMITS) <= members_of(agents).keys():
        twice = max(
            (members_of(agents)[each] for each in _THREAD_LIMITS), key=lambda node: node.range
        )
        message = "are one key; Codex ignores all agents of `[agents]` if both are there"
        yield problem_at(twice, (DECLARED_AGENTS, " and ".join(_THREAD_LIMITS)), message)
    if lookup.value(_ENDPOINT) is not None:
        message = f"{_ENDPOINT[0]} is no longer supported; remove it"
        yield _fault(lookup, _ENDPOINT, "out-of-range", message)
    percent = lookup.decoded(_PERCENT)
    if isinstance(percent, int) and 100 < percent <= 255:
        yield _fault(lookup, _PERCENT, "out-of-range", f"{_PERCENT[0]} cannot exceed 100")
    tier = lookup.decoded(("service_tier",))
    if isinstance(tier, str) and tier not in SERVICE_TIERS:
        message = (
            f"no bundled model has the service tier {quoted(tier)}, so it is not sent; "
            f"known are {', '.join(SERVICE_TIERS)}"
        )
        yield _warning(lookup, ("service_tier",), message, STARTUP_WARNING)
    yield from _hook_warnings(_node(lookup, "hooks"))
    yield from _deprecated(lookup)


@cache
def _any_agent(schema: Schema) -> KeySpec:
    return schema.key((DECLARED_AGENTS, ANY_NAME))


def _of_any(lookup: Lookup) -> Iterator[Problem]:
    for name, check in _CHECKS.items():
        if name in lookup.names_at_top:
            yield from check(lookup)
    yield from _windows(lookup)
    yield from _dates(lookup)
    yield from _newer(lookup)


# -- faults


def _nicknames(node: Node | None, path: KeyPath) -> Iterator[Problem]:
    if node is None or node.items is None:
        return
    if not node.items:
        yield problem_at(node, path, "must not be empty")
    seen: set[str] = set()
    for item in node.items:
        if not isinstance(item.value, str):
            continue
        name = item.value.strip()
        if not name:
            yield problem_at(item, path, "must not hold a blank name")
        elif not _NICKNAME.fullmatch(name):
            allowed = "ASCII letters, digits, spaces, `-` and `_`"
            yield problem_at(item, path, f"may only hold {allowed}; got {quoted(name)}")
        elif name in seen:
            yield problem_at(item, path, f"holds {quoted(name)} twice")
        seen.add(name)


def missing_in_tables(lookup: Lookup) -> Iterator[Problem]:
    """Yield a problem for each table of a file without a required key, wherever the table is written."""
    if lookup.parse.problems:
        return  # They may be among what can't be read.
    for root in roots_with_required(lookup.schema):
        node = _node(lookup, root)
        if node is not None:
            yield from missing_keys(lookup.schema, node, (root,))


def _hooks(lookup: Lookup) -> Iterator[Problem]:
    for event, entries in members_of(_node(lookup, "hooks")).items():
        for entry in entries.items or ():
            hooks = node_at(entry, "hooks") or Node(entry.range)
            for hook in hooks.items or ():
                yield from _hook(lookup, hook, ("hooks", event, "hooks"))


def _hook(lookup: Lookup, hook: Node, place: KeyPath) -> Iterator[Problem]:
    members = members_of(hook)
    kind = str(value_at(hook, "type"))
    for needed in _NEEDED_BY_HOOK.get(kind, ()):
        path = (*place, needed)
        if needed not in members:
            if not lookup.parse.problems:
                yield problem_at(hook, path, "is missing", "missing-key")
        elif kind == "mcp_tool" and not isinstance(value_at(hook, needed), str):
            yield problem_at(members[needed], path, "must be a string", "wrong-type")
    given = members.get("input")
    if kind == "mcp_tool" and given is not None and given.members is None:
        yield problem_at(given, (*place, "input"), "must be a table", "wrong-type")


_NEEDED_BY_HOOK = {"command": ("command",), "mcp_tool": ("server", "tool")}


def _workspace_ids(lookup: Lookup) -> Iterator[Problem]:
    path = ("forced_chatgpt_workspace_id",)
    value = lookup.decoded(path)
    if isinstance(value, str) and "," in value:
        yield _fault(lookup, path, "out-of-range", f"{path[0]} takes one id; several are an array")


_MODIFIERS = frozenset(["ctrl", "control", "alt", "option", "shift", "cmd", "command", "super"])
_KEYS = frozenset(
    [
        "enter",
        "return",
        "tab",
        "backspace",
        "esc",
        "escape",
        "delete",
        "del",
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "space",
        "spacebar",
        "minus",
        "page-up",
        "pageup",
        "pgup",
        "page-down",
        "pagedown",
        "pgdn",
    ]
)
_KEYMAP: KeyPath = ("tui", "keymap")


def _key_bindings(lookup: Lookup) -> Iterator[Problem]:
    """Yield a problem for each word of `[tui.keymap]` that is no key binding, such as `ctrl+a`."""
    for context, actions in tables_in(node_at(_node(lookup, "tui"), "keymap")).items():
        for action, node in members_of(actions).items():
            path = (*_KEYMAP, context, action)
            for each in [node] if node.items is None else node.items:
                if isinstance(each.value, str) and not _is_key_binding(each.value):
                    message = (
                        f"{quoted(each.value)} is not a key binding: write modifiers and a key with `-` "
                        "between them, such as `ctrl-a`, `shift-enter` or `f5`"
                    )
                    yield problem_at(each, path, message)


def _is_key_binding(text: str) -> bool:
    parts = [each for each in text.strip().lower().split("-") if each]
    while parts and parts[0] in _MODIFIERS:
        parts = parts[1:]
    key = "-".join(parts)
    is_function_key = re.fullmatch(r"f([1-9]|1[0-9]|2[0-4])", key) is not None
    return (
        key in _KEYS or is_function_key or (len(key) == 1 and key.isascii() and key.isprintable())
    )


# -- warnings


def _efforts(lookup: Lookup) -> Node:
    """Return the part of the file that its efforts depend on."""
    names = ("model", "model_reasoning_effort", "plan_mode_reasoning_effort", DECLARED_AGENTS)
    nodes = {name: node for name in names if (node := _node(lookup, name)) is not None}
    return Node(TextRange(0, 0), members=nodes)


def _models(lookup: Lookup) -> Iterator[Problem]:
    for path in (("model",), ("review_model",)):
        model = lookup.decoded(path)
        if not isinstance(model, str):
            continue
        if not model.strip():
            message = f"{path[0]} is blank; leave the key out to use the parent's"
            yield _warning(lookup, path, message)
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
    entries = node_at(_node(lookup, "skills"), "config")
    for entry in (entries.items if entries is not None else None) or ():
        members = members_of(entry)
        chosen = [key for key in ("path", "name") if key in members]
        if len(chosen) != 1 and "enabled" in members:
            message = "skills.config needs either a `path` or a `name`; Codex ignores this entry"
            yield warning_at(entry.range, ("skills", "config"), message)
        for key in chosen:
            if is_blank(members[key]):
                message = f"skills.config.{key} is blank; the entry selects nothing"
                yield warning_at(members[key].range, ("skills", "config", key), message)


def _flags(lookup: Lookup) -> Iterator[Problem]:
    for name in members_of(_node(lookup, "features")):
        spec = lookup.schema.find(("features", name))
        where = lookup.place(("features", name))
        if spec is not None and spec.path[-1] == ANY_NAME and where is not None:
            message = f"unknown key {quoted(f'features.{name}')}"
            yield Problem("unknown-key", where, message, ("features", name), 0, fatal=False)


def _windows(lookup: Lookup) -> Iterator[Problem]:
    for key in ("model_context_window", "model_auto_compact_token_limit"):
        value = lookup.decoded((key,))
        if isinstance(value, int) and value < 0:
            yield _warning(lookup, (key,), f"{key} is negative")


_DIGITS_OF_DATES = re.compile(r"\d\d[-:]\d\d")


def _dates(lookup: Lookup) -> Iterator[Problem]:
    if _DIGITS_OF_DATES.search(lookup.parse.text) is None:
        return
    for item in lookup.located:
        value = item.entry.value
        if value is None or value.kind is not ValueKind.DATETIME:
            continue
        spec = lookup.schema.find(item.path)
        if spec is not None and spec.type is KeyType.STRING:
            message = f"{'.'.join(item.path)} is a date; Codex takes it as text. Write it in quotes"
            yield warning_at(value.range, item.path, message, "wrong-type")


_EVENTS_WITHOUT_MATCHER = ("PreModelRequest", "UserPromptSubmit", "Stop", "Interrupt")
_UNSUPPORTED_IN_MATCHERS = re.compile(r"\(\?<?[=!]|\\[1-9]")
"""Look-around and back references, which Rust's regular expressions lack."""


def _hook_warnings(hooks: Node | None) -> Iterator[Problem]:
    """Yield a warning for each hook that Codex skips."""
    for event, entries in members_of(hooks).items():
        for entry in entries.items or ():
            matcher, place = node_at(entry, "matcher"), ("hooks", event)
            pattern = matcher.value if matcher is not None else None
            has_matcher = event not in _EVENTS_WITHOUT_MATCHER and isinstance(pattern, str)
            if matcher is not None and has_matcher and not _is_matcher(str(pattern)):
                message = (
                    f"{quoted(str(pattern))} is not a regular expression; Codex skips the hooks"
                )
                yield warning_at(matcher.range, (*place, "matcher"), message, STARTUP_WARNING)
            inner = node_at(entry, "hooks") or Node(entry.range)
            for hook in inner.items or ():
                yield from _skipped_hook(hook, (*place, "hooks"))


def _skipped_hook(hook: Node, place: KeyPath) -> Iterator[Problem]:
    kind, command = node_at(hook, "type"), node_at(hook, "command")
    if kind is not None and kind.value in ("prompt", "agent"):
        message = f"Codex skips this hook: hooks of the type {kind.value} are not supported yet"
        yield warning_at(kind.range, (*place, "type"), message, STARTUP_WARNING)
    elif kind is not None and kind.value == "command" and command is not None and is_blank(command):
        message = "Codex skips this hook: its command is empty"
        yield warning_at(command.range, (*place, "command"), message, STARTUP_WARNING)


def _is_matcher(text: str) -> bool:
    if text in ("", "*"):
        return True  # Each stands for all tools.
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return _UNSUPPORTED_IN_MATCHERS.search(text) is None


NEWER = "newer-key"


def _newer(lookup: Lookup) -> Iterator[Problem]:
    """Yield a problem for each key that the oldest recorded version of Codex does not know."""
    for path, where in _written(lookup, _NEWER_KEYS):
        dotted = ".".join(path)
        drops = lookup.schema.rejects_unknown and len(path) == 1
        effect = "drops the file" if drops else "ignores the key"
        message = f"{dotted} needs Codex {SINCE[dotted]}; an older one {effect}"
        yield Problem(NEWER, where, message, path, 0, fatal=False, is_warning=True)


_NEWER_KEYS = {tuple(dotted.split(".")): index for index, dotted in enumerate(SINCE)}


def _written(lookup: Lookup, keys: Mapping[KeyPath, int]) -> Iterator[tuple[KeyPath, TextRange]]:
    """Yield those of some keys that a file has, in the order of their numbers, each with the place of its name."""
    there = keys.keys() & lookup.paths
    for path in sorted(there, key=keys.__getitem__) if there else ():
        where = lookup.place(path)
        if where is not None:
            yield path, where


def _deprecated(lookup: Lookup) -> Iterator[Problem]:
    for path, where in _written(lookup, _deprecated_keys(lookup.schema)):
        spec = lookup.schema.key(path)
        message = f"`{spec.dotted}` is deprecated. {spec.deprecated}"
        yield warning_at(where, path, message, DEPRECATED)


DEPRECATED = "deprecated-key"


@cache
def _deprecated_keys(schema: Schema) -> Mapping[KeyPath, int]:
    return {key.path: index for index, key in enumerate(schema.keys) if key.deprecated}


def without_effect(lookup: Lookup, place: str = "an agent") -> Iterator[Problem]:
    """Yield a warning for each key that may be written in such a file and has no effect there."""
    for path, where in _written(lookup, _without_use(lookup.schema)):
        spec = lookup.schema.key(path)
        message = f"{spec.dotted} of {place} has no effect. {spec.no_effect}"
        yield warning_at(where, path, message, "no-effect")


@cache
def _without_use(schema: Schema) -> Mapping[KeyPath, int]:
    return {key.path: index for index, key in enumerate(schema.keys) if key.no_effect}


_CHECKS: Mapping[str, Callable[[Lookup], Iterator[Problem]]] = {
    "hooks": _hooks,
    "forced_chatgpt_workspace_id": _workspace_ids,
    "skills": _skills,
    "features": _flags,
    "tui": _key_bindings,
}
"""Checks of single keys at the top, which are not asked of files without the key."""


# -- helpers


def _node(lookup: Lookup, name: str) -> Node | None:
    """Return a key of the file with all keys below it, None without it. The names are asked first, since that is cheaper."""
    return nested(lookup, (name,)) if name in lookup.names_at_top else None


def _fault(lookup: Lookup, path: KeyPath, code: str, message: str) -> Problem:
    return Problem(code, _value_range(lookup, path), message, path, 0)


def _warning(lookup: Lookup, path: KeyPath, message: str, code: str = "out-of-range") -> Problem:
    return warning_at(_value_range(lookup, path), path, message, code)


def _value_range(lookup: Lookup, path: KeyPath) -> TextRange:
    value = lookup.value(path)
    return value.range if value is not None else TextRange(0, 0)
