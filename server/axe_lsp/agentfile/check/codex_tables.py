"""Problems of tables that agent files and config.toml of Codex have in common, found in trees of values.

The tree may be that of one file, or that of several layers merged (`schema/nested.py`). A problem of which no part
is written in the file itself is one of a lower layer, and is left out by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.codex_names import EFFORTS, MODELS
from axe_lsp.agentfile.schema.key_spec import KeyPath, Schema
from axe_lsp.agentfile.schema.nested import Node
from axe_lsp.agentfile.text.ranges import TextRange, quoted

DECLARED_AGENTS = "agents"

STARTUP_WARNING = "startup-warning"
"""The code of problems of which Codex itself warns when it starts, and that are no keys without effect."""

_RESERVED_PROVIDERS = ("openai", "ollama", "lmstudio")
_AWS_PROVIDERS = ("amazon-bedrock", "amazon-bedrock-runtime")
BUILT_IN_PROVIDERS = (*_RESERVED_PROVIDERS, *_AWS_PROVIDERS, "gcp")
"""The values of `model_provider` that need no table."""
_KEYS_OF_AWS_PROVIDERS = ("base_url", "auth", "http_headers", "aws")

STDIO_ONLY = ("args", "env", "env_vars", "cwd")
HTTP_ONLY = (
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "http_headers_helper",
    "auth",
    "oauth",
    "oauth_resource",
)
_EFFORT_KEYS: tuple[KeyPath, ...] = (
    ("model_reasoning_effort",),
    ("plan_mode_reasoning_effort",),
    (DECLARED_AGENTS, "default_subagent_reasoning_effort"),
)


# -- reading trees


def members_of(node: Node | None) -> Mapping[str, Node]:
    """Return the keys of a table, none of what is no table."""
    return (node.members if node is not None else None) or {}


def tables_in(node: Node | None) -> Mapping[str, Node]:
    """Return the tables in a table, by name."""
    return {name: each for name, each in members_of(node).items() if each.members is not None}


def value_at(node: Node | None, *path: str) -> object:
    """Return the value of a key, None without it."""
    found = node_at(node, *path)
    return found.value if found is not None else None


def node_at(node: Node | None, *path: str) -> Node | None:
    """Return the node of a key, None without it."""
    for name in path:
        node = members_of(node).get(name)
    return node


def is_blank(node: Node) -> bool:
    """Return whether it is a text of nothing but white space."""
    return isinstance(node.value, str) and not node.value.strip()


def problem_at(node: Node, path: KeyPath, message: str, code: str = "out-of-range") -> Problem:
    """Return a fatal problem at a node; the message begins with the key."""
    return Problem(code, node.range, f"{'.'.join(path)} {message}", path, 0)


def warning_at(
    where: TextRange, path: KeyPath, message: str, code: str = "out-of-range"
) -> Problem:
    """Return a problem that is a warning."""
    return Problem(code, where, message, path, 0, fatal=False, is_warning=True)


# -- required keys


@cache
def roots_with_required(schema: Schema) -> tuple[str, ...]:
    """Return the names of the tables at the top below which keys are required."""
    needing = (key.path[0] for key in schema.keys if key.required and len(key.path) > 1)
    return tuple(dict.fromkeys(needing))


@cache
def _tables_with_required(schema: Schema) -> frozenset[KeyPath]:
    """Return the paths of the rows below which keys are required."""
    needing = (key.path for key in schema.keys if key.required)
    return frozenset(path[:end] for path in needing for end in range(1, len(path)))


def missing_keys(schema: Schema, node: Node, path: KeyPath) -> Iterator[Problem]:
    """Yield a problem for each table at or below `path` without a required key."""
    for item in node.items or ():
        yield from missing_keys(schema, item, path)
    if node.members is None:
        return
    needed = [key.path[-1] for key in schema.keys_of(path) if key.required]
    missing = [name for name in needed if name not in node.members]
    if missing:
        names = " and ".join(f"`{name}`" for name in missing)
        message = f"is missing: the table needs {names}"
        yield problem_at(node, (*path, missing[0]), message, "missing-key")
    for name, member in node.members.items():
        if member.members is None and member.items is None:
            continue
        spec = schema.find((*path, name))
        if spec is not None and spec.path in _tables_with_required(schema):
            yield from missing_keys(schema, member, (*path, name))


# -- tables


def server_problems(servers: Node | None, *, is_whole: bool) -> Iterator[Problem]:
    """Yield the problems of `[mcp_servers]`. Nothing is missing in a text that is not `is_whole`."""
    for name, server in tables_in(servers).items():
        path, members = ("mcp_servers", name), members_of(server)
        if "command" not in members and isinstance(value_at(server, "bearer_token"), str):
            message = "is not supported: name an environment variable in `bearer_token_env_var`"
            yield problem_at(members["bearer_token"], (*path, "bearer_token"), message)
        if "command" not in members and "url" not in members:
            if is_whole:
                message = "needs a `command` to start, or the `url` of a server"
                yield problem_at(server, path, message, "missing-key")
            continue
        kind, others = ("stdio", HTTP_ONLY) if "command" in members else ("http", STDIO_ONLY)
        for key in others:
            if key in members:
                message = f"is not supported for a server by {kind}"
                yield problem_at(members[key], (*path, key), message)
        helper = members.get("http_headers_helper")
        if helper is not None and is_blank(helper):
            yield problem_at(helper, (*path, "http_headers_helper"), "must not be blank")


def required_commands(servers: Node | None) -> Iterator[Node]:
    """Yield the commands of servers without which no session starts, as far as they are found by the user's `PATH` alone."""
    for server in tables_in(servers).values():
        command = node_at(server, "command")
        is_used = value_at(server, "required") is True and value_at(server, "enabled") is not False
        is_elsewhere = value_at(server, "env", "PATH") or value_at(server, "environment_id")
        if command is None or not is_used or is_elsewhere or not isinstance(command.value, str):
            continue
        is_relative = "/" in command.value and not command.value.startswith("/")
        if command.value.strip() and not is_relative and "\\" not in command.value:
            yield command


def provider_problems(providers: Node | None, *, is_whole: bool) -> Iterator[Problem]:
    """Yield the problems of `[model_providers]`, which only the user's config.toml and agent files can have."""
    for name, provider in tables_in(providers).items():
        path, members = ("model_providers", name), members_of(provider)
        yield from _provider_names(name, provider, is_whole=is_whole)
        if "aws" in members and name not in _AWS_PROVIDERS:
            message = f"is only supported for {' and '.join(_AWS_PROVIDERS)}"
            yield problem_at(members["aws"], (*path, "aws"), message)
        auth = members.get("auth")
        command = node_at(auth, "command")
        if command is not None and is_blank(command):
            yield problem_at(command, (*path, "auth", "command"), "must not be blank")
        if auth is not None and "env_key" in members:
            yield problem_at(auth, (*path, "auth"), "and `env_key` exclude each other")


def _provider_names(name: str, provider: Node, *, is_whole: bool) -> Iterator[Problem]:
    """Yield the problems of the id and the name of a provider, which a built-in one can't have."""
    path, members = ("model_providers", name), members_of(provider)
    if name in _RESERVED_PROVIDERS:
        message = "is built in and can't be defined again; choose another name"
        yield problem_at(provider, path, message)
    elif name in _AWS_PROVIDERS:
        for key in members.keys() - set(_KEYS_OF_AWS_PROVIDERS):
            message = f"can't be changed: {name} has only {', '.join(_KEYS_OF_AWS_PROVIDERS)}"
            yield problem_at(members[key], (*path, key), message)
    elif "name" not in members:
        if is_whole:
            message = "is missing: the table needs `name`"
            yield problem_at(provider, (*path, "name"), message, "missing-key")
    elif is_blank(members["name"]):
        yield problem_at(members["name"], (*path, "name"), "must not be blank", "missing-key")


def approval_problems(policy: Node | None) -> Iterator[Problem]:
    """Yield the problem of an `approval_policy` that is a table of other keys than `granular`."""
    if policy is not None and policy.members is not None and set(policy.members) != {"granular"}:
        yield problem_at(policy, ("approval_policy",), "takes one table, `granular`")


def effort_problems(root: Node, effect: str) -> Iterator[Problem]:
    """Yield the problems of efforts. `effect` says what comes of one that the model does not have."""
    model = value_at(root, "model")
    known = MODELS.get(model, EFFORTS) if isinstance(model, str) else EFFORTS
    for path in _EFFORT_KEYS:
        node = node_at(root, *path)
        effort = node.value if node is not None else None
        if node is None or not isinstance(effort, str):
            continue
        if not effort:
            yield problem_at(node, path, "must not be empty")
        elif effort not in known:
            whose = f"the model {quoted(str(model))}" if effort in EFFORTS else "any model"
            message = (
                f"{quoted(effort)} is not an effort of {whose}, so {effect}; "
                f"known are {', '.join(known)}"
            )
            yield warning_at(node.range, path, message)
