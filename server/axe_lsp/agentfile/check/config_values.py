"""Problems of values in config.toml that the rows of its schema can't express."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.check.problem import Problem, problem
from axe_lsp.agentfile.schema.key_spec import Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.addresses import address_fault
from axe_lsp.agentfile.text.machine_addresses import dask_host, ssh_host
from axe_lsp.agentfile.text.ranges import quoted


def config_values(lookup: Lookup) -> Iterator[Problem]:
    """Addresses that lead nowhere, providers that no model can name, and machines that can not be reached."""
    yield from _addresses(lookup)
    yield from _providers(lookup)
    yield from _machines(lookup)


def _addresses(lookup: Lookup) -> Iterator[Problem]:
    for item in lookup.located:
        spec, value = lookup.schema.find(item.path), item.entry.value
        if spec is None or spec.names is not Names.ADDRESS or value is None:
            continue
        address = lookup.decoded(item.path)
        # White space around it is no part, and an empty one is none.
        fault = address_fault(address.strip()) if isinstance(address, str) else None
        if fault is not None and address.strip():
            message = f"{'.'.join(item.path)} {fault}"
            yield problem("out-of-range", spec, value.range, message, fatal=False)


def _machines(lookup: Lookup) -> Iterator[Problem]:
    hosts = lookup.decoded(("execution", "ssh", "hosts"))
    scheduler = lookup.decoded(("execution", "dask", "scheduler"))
    for path, addresses, read in (
        (("execution", "ssh", "hosts"), hosts if isinstance(hosts, list) else (), ssh_host),
        (("execution", "dask", "scheduler"), [scheduler] if scheduler else (), dask_host),
    ):
        try:
            for address in addresses:
                read(address if isinstance(address, str) else "")
        except ValueError as fault:
            where = lookup.place(path)
            if where is not None:
                message = f"{'.'.join(path)} {fault}"
                yield problem("out-of-range", lookup.schema.key(path), where, message, fatal=False)


def _providers(lookup: Lookup) -> Iterator[Problem]:
    tables = (table.path for table in lookup.parse.document.tables if table.complete)
    paths = [*tables, *(item.path for item in lookup.located)]
    stated = {item.path for item in lookup.located}
    names = dict.fromkeys(path[1] for path in paths if path[:1] == ("providers",) and len(path) > 1)
    for name in names:
        path = ("providers", name)
        spec, where = lookup.schema.find(path), lookup.place(path)
        if (
            name not in PROVIDERS
            and (*path, "wire") not in stated
            and spec is not None
            and where is not None
        ):
            message = (
                f"no model is served by {quoted(name)}, which is not built in and has no `wire`"
            )
            yield problem("unknown-provider", spec, where, message, fatal=False, found=name)
