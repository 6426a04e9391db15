"""Problems of Codex's tables about the network: the login to a gateway, and requests that its proxy changes.

Recorded with Codex 0.171.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from axe_lsp.agentfile.check.codex_tables import (
    is_blank,
    members_of,
    node_at,
    problem_at,
    tables_in,
    value_at,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.nested import Node

_OAUTH_KEYS = ("authorization_url", "token_url", "client_id")
_CREDENTIALS = ("env_key", "auth", "experimental_bearer_token", "requires_openai_auth")
"""The keys of a provider that fill the header `Authorization`."""
_EXPORT = "credential_export"
_TOKEN = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
"""A name of a header or a cookie."""
_RESERVED_HEADERS = ("host",)


def gateway_problems(providers: Node | None, *, is_whole: bool) -> Iterator[Problem]:
    """Yield the problems of `gateway_oauth` of each provider: one source of credentials, and a header of its own."""
    for name, provider in tables_in(providers).items():
        gateway = node_at(provider, "gateway_oauth")
        if gateway is None or gateway.members is None:
            continue
        path = ("model_providers", name, "gateway_oauth")
        yield from _source(gateway, path, is_whole=is_whole)
        yield from _addresses(gateway.members, path)
        delivery = node_at(gateway, "delivery") or node_at(gateway, _EXPORT, "delivery")
        if delivery is not None:
            yield from _delivery(delivery, (*path, "delivery"))
        elif credential := next((key for key in _CREDENTIALS if node_at(provider, key)), ""):
            message = f"and `{credential}` both fill the header Authorization; name another one in `delivery`"
            yield problem_at(gateway, path, message)
        if is_whole and node_at(provider, "base_url") is None:
            yield problem_at(gateway, path, "needs a `base_url` next to it")


def _source(gateway: Node, path: KeyPath, *, is_whole: bool) -> Iterator[Problem]:
    """Yield the problems of the source of credentials, which is a command or a login by OAuth."""
    keys = members_of(gateway)
    export, client = keys.get(_EXPORT), keys.get("client_id")
    if export is None:
        if is_whole and not all(key in keys for key in _OAUTH_KEYS):
            message = f"needs `{_EXPORT}`, or a login with {', '.join(_OAUTH_KEYS)}"
            yield problem_at(gateway, path, message, "missing-key")
        if client is not None and is_blank(client):
            yield problem_at(client, (*path, "client_id"), "must not be blank")
        return
    other = next((key for key in keys if key != _EXPORT), "")
    if other:
        yield problem_at(keys[other], (*path, other), f"and `{_EXPORT}` exclude each other")
    command, limit = node_at(export, "command"), node_at(export, "timeout_ms")
    if command is None and is_whole:
        yield problem_at(export, (*path, _EXPORT), "needs a `command`", "missing-key")
    elif command is not None and (not isinstance(command.value, str) or is_blank(command)):
        yield problem_at(command, (*path, _EXPORT, "command"), "must be a string with a command")
    if limit is not None and limit.value == 0:
        yield problem_at(limit, (*path, _EXPORT, "timeout_ms"), "must be at least 1")


def _addresses(keys: Mapping[str, Node], path: KeyPath) -> Iterator[Problem]:
    for key in ("authorization_url", "device_authorization_url", "token_url"):
        node = keys.get(key)
        if node is None or not isinstance(node.value, str):
            continue
        scheme, _, rest = node.value.partition("://")
        host = rest.partition("/")[0]
        is_local = host.partition(":")[0] in ("localhost", "127.0.0.1") or host.startswith("[::1]")
        is_safe = scheme.lower() == "https" or (scheme.lower() == "http" and is_local)
        if not (is_safe and host) or "@" in host or "#" in rest:
            message = (
                "must be an address with https, or http on this machine, without a user or a `#`"
            )
            yield problem_at(node, (*path, key), message)
            return  # Codex names the first one.


def _delivery(delivery: Node, path: KeyPath) -> Iterator[Problem]:
    """Yield the problems of the header or cookie that carries the token."""
    kind, name, scheme = (node_at(delivery, key) for key in ("kind", "name", "scheme"))
    word = kind.value if kind is not None else None
    if name is not None and isinstance(name.value, str):
        if not _TOKEN.fullmatch(name.value):
            yield problem_at(name, (*path, "name"), f"is not a name of a {word or 'header'}")
        elif word == "header" and name.value.lower() in _RESERVED_HEADERS:
            message = "is reserved; choose a header that the gateway takes"
            yield problem_at(name, (*path, "name"), message)
    if scheme is not None and word == "cookie":
        yield problem_at(scheme, (*path, "scheme"), "is for headers only")
    elif scheme is not None and is_blank(scheme):
        yield problem_at(scheme, (*path, "scheme"), "must not be blank")


_SCOPED_ACTIONS = ("body_secret_substitution", "aws_sigv4")


def proxy_problems(profiles: Node | None) -> Iterator[Problem]:
    """Yield the problems of the requests that the proxy of each profile of permissions changes."""
    for name in tables_in(profiles):
        path = ("permissions", name, "network", "mitm")
        mitm = node_at(profiles, *path[1:])
        for action, table in tables_in(node_at(mitm, "actions")).items():
            keys, place = members_of(table), (*path, "actions", action)
            if not any(each.items is None or each.items for each in keys.values()):
                yield problem_at(table, place, "must have at least one change")
            scoped = next((key for key in _SCOPED_ACTIONS if key in keys), "")
            if scoped and value_at(mitm, "version") is None:
                message = "needs `version = 2` in [permissions.NAME.network.mitm]"
                yield problem_at(keys[scoped], (*place, scoped), message)
        for hook, table in tables_in(node_at(mitm, "hooks")).items():
            yield from _hook_problems(members_of(table), (*path, "hooks", hook))


def _hook_problems(keys: Mapping[str, Node], path: KeyPath) -> Iterator[Problem]:
    host, action, body = keys.get("host"), keys.get("action"), keys.get("body")
    if host is not None and (is_blank(host) or host.value == "*"):
        yield problem_at(host, (*path, "host"), "must be the name of a host")
    if action is not None and action.items == []:
        yield problem_at(action, (*path, "action"), "must name at least one action")
    if body is not None:
        yield problem_at(body, (*path, "body"), "is reserved for a future release of Codex")
    for key in ("query", "headers"):
        for name, value in members_of(keys.get(key)).items():
            if value.items is None:
                yield problem_at(value, (*path, key, name), "must be an array of strings")
