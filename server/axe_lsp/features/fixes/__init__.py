"""How to mend what the rules find: one module per rule, named after it as in `features/rules`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from axe_lsp.features.fix import Case, Fix, Fixer
from axe_lsp.features.fixes import (
    bad_glob,
    bad_schema,
    bad_skill,
    delegation_cycle,
    duplicate_agent,
    duplicate_name,
    empty_glob,
    missing_api_key,
    missing_file,
    missing_key,
    model_format,
    name_mismatch,
    not_axe,
    out_of_range,
    outside_workspace,
    plain_secret,
    syntax,
    two_timeouts,
    unknown_agent,
    unknown_key,
    unknown_provider,
    unknown_tool,
    unreachable_depth,
    unused_config,
    unused_ignore,
    unused_param,
    wrong_type,
)

FIXES: Mapping[str, Fixer] = {
    "syntax": syntax.fixes,
    "missing-key": missing_key.fixes,
    "wrong-type": wrong_type.fixes,
    "max-depth": out_of_range.fixes,
    "negative-timeout": out_of_range.fixes,
    "out-of-range": out_of_range.fixes,
    "unknown-agent": unknown_agent.fixes,
    "unknown-key": unknown_key.fixes,
    "unknown-tool": unknown_tool.fixes,
    "model-format": model_format.fixes,
    "unknown-provider": unknown_provider.fixes,
    "delegation-cycle": delegation_cycle.fixes,
    "unreachable-depth": unreachable_depth.fixes,
    "two-timeouts": two_timeouts.fixes,
    "duplicate-agent": duplicate_agent.fixes,
    "duplicate-name": duplicate_name.fixes,
    "unused-config": unused_config.fixes,
    "outside-workspace": outside_workspace.fixes,
    "unused-param": unused_param.fixes,
    "name-mismatch": name_mismatch.fixes,
    "missing-file": missing_file.fixes,
    "missing-api-key": missing_api_key.fixes,
    "bad-glob": bad_glob.fixes,
    "empty-glob": empty_glob.fixes,
    "bad-schema": bad_schema.fixes,
    "bad-skill": bad_skill.fixes,
    "plain-secret": plain_secret.fixes,
    "unused-ignore": unused_ignore.fixes,
    "not-axe": not_axe.fixes,
}
"""By the codes of the rules."""


def fixes_of(case: Case) -> Iterable[Fix]:
    """The fixes of a finding, the likely ones first."""
    fixer = FIXES.get(case.finding.code)
    return fixer(case) if fixer is not None else ()
