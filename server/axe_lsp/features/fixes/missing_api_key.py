"""A place for the key in the user's own config.toml. The key itself nobody but the user knows."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.edit import Secret
from axe_lsp.features.fix import Case, Fix


def fixes(case: Case) -> Iterator[Fix]:
    key = case.snapshot.facts_about(case.file).key
    if key is not None and case.snapshot.places.config_file:
        title = f"Enter the key of {key.provider} in config.toml"
        yield Fix(title, (), preferred=True, secret=Secret(key.provider))
