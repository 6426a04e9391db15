"""One module per diagnostic: its code, its severity, its check, its fixes and its documentation."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rule import Rule

_IN_ORDER = """
    syntax missing_key wrong_type max_depth negative_timeout out_of_range unknown_agent
    unknown_child unknown_call unknown_key unknown_tool model_format unknown_provider
    similar_model ending_model delegation_cycle unreachable_depth two_timeouts duplicate_agent
    unused_config unused_param unread_picture name_mismatch duplicate_name differing_twin refused_elsewhere missing_file
    bad_skill bad_glob empty_glob bad_schema bad_test stale_recording missing_api_key
    dropped_agent replaced_agent no_effect deprecated_key startup_warning newer_key plain_secret outside_workspace unready_server
    unseen_tool shadowed_tool side_run_writes never_called unused_tool missing_tool budget_hit not_axe unused_ignore
"""
"""The modules, in the order of the documentation."""

RULES: tuple[Rule, ...] = tuple(
    import_module(f"{__name__}.{name}").RULE for name in _IN_ORDER.split()
)

_BY_CODE = {rule.code: rule for rule in RULES}


def fixes_of(case: Case) -> Iterable[Fix]:
    """Return the fixes of a finding, the most likely first."""
    return _BY_CODE[case.finding.code].fixes(case)
