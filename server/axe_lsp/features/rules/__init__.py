"""One module per diagnostic: its code, its severity, what it looks at, what its page says."""

from __future__ import annotations

from axe_lsp.features.rule import Rule
from axe_lsp.features.rules import (
    bad_glob,
    bad_schema,
    delegation_cycle,
    duplicate_agent,
    duplicate_name,
    max_depth,
    missing_key,
    model_format,
    name_mismatch,
    negative_timeout,
    not_axe,
    out_of_range,
    plain_secret,
    syntax,
    unknown_agent,
    unknown_key,
    unknown_provider,
    unknown_tool,
    unreachable_depth,
    unused_config,
    unused_ignore,
    wrong_type,
)

RULES: tuple[Rule, ...] = (
    syntax.RULE,
    missing_key.RULE,
    wrong_type.RULE,
    max_depth.RULE,
    negative_timeout.RULE,
    out_of_range.RULE,
    unknown_agent.RULE,
    unknown_key.RULE,
    unknown_tool.RULE,
    model_format.RULE,
    unknown_provider.RULE,
    delegation_cycle.RULE,
    unreachable_depth.RULE,
    duplicate_agent.RULE,
    unused_config.RULE,
    name_mismatch.RULE,
    duplicate_name.RULE,
    bad_glob.RULE,
    bad_schema.RULE,
    plain_secret.RULE,
    not_axe.RULE,
    unused_ignore.RULE,
)
