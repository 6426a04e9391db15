"""One module per diagnostic: its code, its severity, its check, its fixes and its documentation."""

from __future__ import annotations

from collections.abc import Iterable

from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rule import Rule
from axe_lsp.features.rules import (
    bad_glob,
    bad_schema,
    bad_skill,
    bad_test,
    delegation_cycle,
    dropped_agent,
    duplicate_agent,
    duplicate_name,
    empty_glob,
    ending_model,
    max_depth,
    missing_api_key,
    missing_file,
    missing_key,
    model_format,
    name_mismatch,
    negative_timeout,
    no_effect,
    not_axe,
    out_of_range,
    outside_workspace,
    plain_secret,
    replaced_agent,
    similar_model,
    stale_recording,
    syntax,
    two_timeouts,
    unknown_agent,
    unknown_call,
    unknown_child,
    unknown_key,
    unknown_provider,
    unknown_tool,
    unreachable_depth,
    unread_picture,
    unready_server,
    unseen_tool,
    unused_config,
    unused_ignore,
    unused_param,
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
    unknown_child.RULE,
    unknown_call.RULE,
    unknown_key.RULE,
    unknown_tool.RULE,
    model_format.RULE,
    unknown_provider.RULE,
    similar_model.RULE,
    ending_model.RULE,
    delegation_cycle.RULE,
    unreachable_depth.RULE,
    two_timeouts.RULE,
    duplicate_agent.RULE,
    unused_config.RULE,
    unused_param.RULE,
    unread_picture.RULE,
    name_mismatch.RULE,
    duplicate_name.RULE,
    missing_file.RULE,
    bad_skill.RULE,
    bad_glob.RULE,
    empty_glob.RULE,
    bad_schema.RULE,
    bad_test.RULE,
    stale_recording.RULE,
    missing_api_key.RULE,
    dropped_agent.RULE,
    replaced_agent.RULE,
    no_effect.RULE,
    plain_secret.RULE,
    outside_workspace.RULE,
    unready_server.RULE,
    unseen_tool.RULE,
    not_axe.RULE,
    unused_ignore.RULE,
)

_BY_CODE = {rule.code: rule for rule in RULES}


def fixes_of(case: Case) -> Iterable[Fix]:
    """The fixes of a finding, the most likely first."""
    return _BY_CODE[case.finding.code].fixes(case)
