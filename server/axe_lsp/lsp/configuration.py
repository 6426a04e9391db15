"""`workspace/configuration` and `workspace/didChangeConfiguration`: the client's settings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.rules import RULES
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.safety.allowances import rule_fault, rule_warning
from axe_lsp.settings import read_settings

_log = logging.getLogger(__name__)


class Configuration:
    """The settings of one client. `changed` is called when the client has changed them."""

    def __init__(self, session: Session, changed: Callable[[], None]) -> None:
        self._session = session
        self._changed = changed
        session.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(self._did_change)

    def apply(self, section: Any) -> bool:
        """Apply the section `axe` of the client's settings; whether they differ from those before.

        The user sees a warning for each setting that has no effect.
        """
        session = self._session
        settings, complaints = read_settings(section)
        complaints += _unknown_codes(settings.diagnostics)
        for rule in settings.tools_allow:
            if fault := rule_fault(rule):
                complaints.append(f"{quoted(rule)} in axe.tools.allow {fault}; it has no effect")
            elif warning := rule_warning(rule):
                complaints.append(f"{quoted(rule)} in axe.tools.allow {warning}")
        for complaint in complaints:
            _log.warning("%s", complaint)
            session.show_message(complaint)
        if settings == session.view.settings:
            return False
        session.view.configure(settings)
        session.daemon.settings_have_changed()
        return True

    def fetch(self) -> None:
        """Ask the client for its settings, in the background."""
        self._session.start(self._fetch(), name="fetching settings")

    async def _fetch(self) -> None:
        if not self._session.client.supports("workspace.configuration"):
            return
        params = types.ConfigurationParams([types.ConfigurationItem(section="axe")])
        try:
            answer = await self._session.request(types.WORKSPACE_CONFIGURATION, params)
        except JsonRpcException as error:
            _log.warning("the client did not give its settings: %s", error.message)
            return
        if answer and answer[0] is not None:
            self._take(answer[0])

    def _did_change(self, params: types.DidChangeConfigurationParams) -> None:
        if isinstance(params.settings, dict) and params.settings.get("axe") is not None:
            self._take(params.settings["axe"])
        else:
            self.fetch()

    def _take(self, section: Any) -> None:
        if self.apply(section):
            self._changed()


def _unknown_codes(setting: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence about each code in `axe.diagnostics` that no rule has."""
    codes = [rule.code for rule in RULES]
    for code in setting:
        if code not in codes:
            meant = nearest(code, codes)
            hint = f"; did you mean `{meant}`?" if meant is not None else ""
            yield f"the setting axe.diagnostics names `{code}`, which is not a diagnostic code{hint}"
