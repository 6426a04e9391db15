"""Settings as clients send them."""

from __future__ import annotations

import pytest

from axe_lsp.settings import SETTINGS, Settings, read_settings


@pytest.mark.parametrize("section", [None, {}, [], "x", {"run": None, "agentPaths": None}])
def test_what_is_left_out_has_its_default(section: object) -> None:
    assert read_settings(section) == (Settings(), [])


@pytest.mark.parametrize("section", [{"run": {"timeout": 5}}, {"run.timeout": 5}])
def test_names_may_be_nested_or_dotted(section: object) -> None:
    settings, complaints = read_settings(section)
    assert settings.run_timeout == 5
    assert complaints == []


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"agentPaths": "x"}, "axe.agentPaths must be a list of strings"),
        ({"run": {"timeout": -1}}, "axe.run.timeout must be a whole number from 0, not -1"),
        ({"run": {"timeout": True}}, "axe.run.timeout must be a whole number from 0, not True"),
        ({"diagnostics": {"syntax": "loud"}}, "axe.diagnostics knows the severities error, "),
        ({"inlayHints": "off"}, "axe.inlayHints must be true or false, not 'off'"),
        ({"diagnostics": 3}, "axe.diagnostics must be an object"),
        ({"agentPaths": {"syntax": "off"}}, "axe.agentPaths must be a list of strings"),
    ],
)
def test_a_wrong_value_is_explained_and_ignored(section: object, said: str) -> None:
    settings, (complaint,) = read_settings(section)
    assert said in complaint
    assert settings == Settings()


def test_a_wrong_severity_leaves_those_of_the_other_codes_in_force() -> None:
    settings, (complaint,) = read_settings(
        {"diagnostics": {"unknown-key": "off", "syntax": "Off", "bad-glob": False}}
    )
    assert settings.diagnostics == {"unknown-key": "off"}
    assert "not 'Off' for syntax, False for bad-glob; it is ignored" in complaint


def test_every_setting_has_a_name_of_its_own_and_a_sentence() -> None:
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert all(setting.doc.endswith(".") for setting in SETTINGS)
