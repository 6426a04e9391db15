"""Problems of Codex's config.toml that only its layers together show.

Codex merges the user's config.toml, those of the project and those of inner folders by key before it looks at
what belongs together. Recorded with Codex 0.171; the messages of Codex itself are in `tests/recorded/codex`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from axe_lsp.agentfile.check.codex_network import proxy_problems
from axe_lsp.agentfile.check.codex_tables import (
    STARTUP_WARNING,
    approval_problems,
    effort_problems,
    members_of,
    missing_keys,
    node_at,
    problem_at,
    roots_with_required,
    server_problems,
    tables_in,
    value_at,
    warning_at,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.codex_names import FEATURES, MODELS
from axe_lsp.agentfile.schema.key_spec import KeyPath, Schema
from axe_lsp.agentfile.schema.nested import ELSEWHERE, Node
from axe_lsp.agentfile.text.ranges import quoted

_WAITS = {
    "min_wait_timeout_ms": 10_000,
    "default_wait_timeout_ms": 30_000,
    "max_wait_timeout_ms": 3_600_000,
}
"""The limits of `features.multi_agent_v2`, from the smallest to the largest, with their defaults."""

_BASES = (":read-only", ":workspace")
"""The built-in profiles of permissions that others can extend."""
_BUILT_IN_PROFILES = (*_BASES, ":danger-full-access")
_FOLDERS = (
    ":root",
    ":minimal",
    ":workspace_roots",
    ":project_roots",
    ":tmpdir",
    ":slash_tmp",
)
"""The paths with a name in `permissions.NAME.filesystem`."""
_OPTIONS_OF_FILESYSTEM = ("glob_scan_max_depth",)


def codex_settings(schema: Schema, root: Node, *, is_whole: bool) -> Iterator[Problem]:
    """Yield the problems of a config.toml merged over the layers below it, which `root` is.

    Nothing is missing unless all the texts are free of syntax errors (`is_whole`).
    """
    for problem in _problems(schema, root, is_whole):
        if problem.range != ELSEWHERE:  # Else it is one of a lower layer alone.
            yield problem


def _problems(schema: Schema, root: Node, is_whole: bool) -> Iterator[Problem]:
    for name in roots_with_required(schema) if is_whole else ():
        node = node_at(root, name)
        if node is not None:
            yield from missing_keys(schema, node, (name,))
    yield from server_problems(node_at(root, "mcp_servers"), is_whole=is_whole)
    yield from approval_problems(node_at(root, "approval_policy"))
    yield from effort_problems(root, "it is ignored or refused")
    yield from _model(root)
    yield from _permissions(root)
    yield from proxy_problems(node_at(root, "permissions"))
    yield from _waits(root)
    yield from _rollout_budget(root)
    yield from _unfinished_features(root)


def _model(root: Node) -> Iterator[Problem]:
    node = node_at(root, "model")
    if node is None or not isinstance(node.value, str):
        return
    model = node.value
    if not model:
        yield problem_at(node, ("model",), "must not be empty; leave the key out")
    elif not _has_metadata(model) and node_at(root, "model_catalog_json") is None:
        message = (
            f"Codex has no metadata for the model {quoted(model)} and works with general ones; "
            f"it knows {', '.join(MODELS)}"
        )
        yield warning_at(node.range, ("model",), message, STARTUP_WARNING)


def _has_metadata(model: str) -> bool:
    """Return whether the name is that of a bundled model, or begins with one, after at most one namespace."""
    namespace, _, name = model.rpartition("/")
    return "/" not in namespace and name.startswith(tuple(MODELS))


# -- permissions


def _permissions(root: Node) -> Iterator[Problem]:
    default = node_at(root, "default_permissions")
    profiles = node_at(root, "permissions")
    if default is None:
        if profiles is not None and tables_in(profiles):
            message = "has profiles, but no `default_permissions` says which one is in force"
            yield problem_at(profiles, ("permissions",), message)
        return
    name, tables = default.value, tables_in(profiles)
    if not isinstance(name, str):
        return
    reserved = [each for each in tables if each.startswith(":")]
    for each in reserved:
        message = "has a name that only built-in profiles have; leave out the `:`"
        yield problem_at(tables[each], ("permissions", each), message)
    if reserved:
        return
    if name.startswith(":"):
        if name not in _BUILT_IN_PROFILES:
            yield _undefined(default, name, _BUILT_IN_PROFILES)
        return
    if not tables:
        message = f"{quoted(name)} is not a profile: there is no table `[permissions.NAME]`"
        yield problem_at(default, ("default_permissions",), message)
        return
    if name not in tables:
        yield _undefined(default, name, tuple(tables))
        return
    yield from _profile(default, name, tables)


def _undefined(default: Node, name: str, known: tuple[str, ...]) -> Problem:
    message = f"{quoted(name)} is not defined; known are {', '.join(map(quoted, known))}"
    return problem_at(default, ("default_permissions",), message)


def _profile(default: Node, name: str, tables: Mapping[str, Node]) -> Iterator[Problem]:
    """Yield the problems of the profile in force and of those that it extends."""
    chain: list[str] = []
    current: object = name
    while isinstance(current, str) and not current.startswith(":"):
        chain.append(current)
        extends = node_at(tables[current], "extends")
        base = extends.value if extends is not None else None
        if extends is None or not isinstance(base, str):
            break
        where = _written(extends, tables[current], default)
        path = ("permissions", current, "extends")
        if base in chain:
            circle = " → ".join([*chain[chain.index(base) :], base])
            yield problem_at(where, path, f"leads back to the profile itself: {circle}")
            return
        if base not in tables and base not in _BASES:
            known = ", ".join(map(quoted, (*tables, *_BASES)))
            message = f"{quoted(base)} is not a profile that can be extended; known are {known}"
            yield problem_at(where, path, message)
            return
        current = base
    yield from _paths(chain, tables, default, has_base=current not in chain)


def _written(*nodes: Node) -> Node:
    """Return the first of some nodes that the file itself has."""
    return next((each for each in nodes if each.range != ELSEWHERE), nodes[0])


def _paths(
    chain: list[str], tables: Mapping[str, Node], default: Node, *, has_base: bool
) -> Iterator[Problem]:
    entries = {
        (name, path): node
        for name in chain
        for path, node in members_of(node_at(tables[name], "filesystem")).items()
        if path not in _OPTIONS_OF_FILESYSTEM
    }
    for (name, path), node in entries.items():
        key: KeyPath = ("permissions", name, "filesystem", path)
        where = _written(node, default)
        if path.startswith(":"):
            if path not in _FOLDERS:
                message = (
                    f"Codex ignores the path {quoted(path)}; it knows "
                    f"{', '.join(map(quoted, _FOLDERS))}"
                )
                yield warning_at(where.range, key, message, STARTUP_WARNING)
        elif not _is_absolute(path):
            message = "must be absolute, or begin with `~/` or the name of a folder such as `:root`"
            yield problem_at(where, key, message)
    if not entries and not has_base:
        table = _written(tables[chain[0]], default)
        message = f"the profile {quoted(chain[0])} allows no files; add `filesystem` or `extends`"
        yield warning_at(table.range, ("permissions", chain[0]), message, STARTUP_WARNING)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", path) is not None


# -- features


def _waits(root: Node) -> Iterator[Problem]:
    table = node_at(root, "features", "multi_agent_v2")
    names = list(_WAITS)
    nodes = {name: node_at(table, name) for name in names}
    values = {name: value_at(table, name) for name in names}
    if not any(isinstance(value, int) for value in values.values()):
        return
    numbers = {
        name: value if isinstance(value, int) else _WAITS[name] for name, value in values.items()
    }
    for low, high in ((names[0], names[2]), (names[0], names[1]), (names[1], names[2])):
        if numbers[low] > numbers[high]:
            node = nodes[low] or nodes[high]
            if node is not None:
                message = f"must be at most {high} ({numbers[high]})"
                yield problem_at(node, ("features", "multi_agent_v2", low), message)
            return


def _rollout_budget(root: Node) -> Iterator[Problem]:
    path = ("features", "rollout_budget")
    table = node_at(root, *path)
    if table is None or not _is_switched_on(table):
        return
    if not {"limit_tokens", "limit_budget"} & members_of(table).keys():
        yield problem_at(table, path, "needs `limit_tokens` or `limit_budget`", "missing-key")
    elif "reminder_at_remaining_tokens" not in members_of(table):
        yield problem_at(table, path, "needs `reminder_at_remaining_tokens`", "missing-key")


def _unfinished_features(root: Node) -> Iterator[Problem]:
    features = node_at(root, "features")
    if value_at(root, "suppress_unstable_features_warning") is not True:
        for name, node in members_of(features).items():
            if FEATURES.get(name) == "under development" and _is_switched_on(node):
                message = (
                    f"the feature {quoted(name)} is under development and may behave unpredictably; "
                    "`suppress_unstable_features_warning = true` at the top hides this"
                )
                yield warning_at(node.range, ("features", name), message, STARTUP_WARNING)
    masking, proxy = node_at(features, "credential_masking"), node_at(features, "network_proxy")
    if masking is not None and masking.value is True and not (proxy and _is_switched_on(proxy)):
        message = "credentials are not masked without `features.network_proxy`"
        path = ("features", "credential_masking")
        yield warning_at(masking.range, path, message, STARTUP_WARNING)


def _is_switched_on(feature: Node) -> bool:
    return feature.value is True or value_at(feature, "enabled") is True
