"""The published JSON Schemas say what the diagnostics say, as far as a JSON Schema can."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import tomli
from jsonschema import Draft7Validator
from jsonschema.validators import extend

from axe_lsp.agentfile.schema import json_schema as json_schema_keywords
from axe_lsp.agentfile.schema import published_schema
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.key_spec import KeySpec, Schema
from axe_lsp.agentfile.schema.published_schema import PUBLISHED, json_schema
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.cli.main import main
from axe_lsp.daemon import project_severities
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import SEVERITY_NAMES, Finding, Severity
from axe_lsp.features.rule import Dialects
from axe_lsp.features.rules import RULES
from axe_lsp.workspace.agent_file import read_agent_file
from axe_lsp.workspace.snapshot import Snapshot
from schemas.fixtures import OF_SCHEMAS, VALUES, agent_files, set_to
from support.findings import HEAD
from support.fixture import PLACES, uri_of

PAGE = Path(__file__).parents[2] / "docs" / "schemas.md"

SAID = {
    "missing-key",
    "wrong-type",
    "max-depth",
    "negative-timeout",
    "out-of-range",
    "unknown-key",
    "unknown-tool",
    "model-format",
    "bad-schema",
}
"""The codes that a JSON Schema can say too. docs/schemas.md lists the others."""

UNSAID = (
    r"retry\.max_delay_ms must be >=",
    r"mcp_servers names must be unique",
    r"unknown tool \"[^\"]*\*",
    r".* is too large: integers have 64 bits",
    r".* must be a finite number",
    r"no model is served by",
    r".* is not a regular expression",
    r".* leads nowhere",
    r".* is nested too deeply",
    r".*\$id (is not possible|must be an address)",
    r".* has no counterpart in JSON",
    r"unknown tool .* in tool_policy\.",
)
"""Findings with these codes that it can't say: how two values compare, words of globs, sizes of numbers."""


_TYPES = Draft7Validator.TYPE_CHECKER.redefine(
    "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
)
"""Those of TOML: 3.0 is no integer, as it is in JSON."""

_Validator = extend(Draft7Validator, type_checker=_TYPES)


_VALIDATORS = {id(schema): _Validator(json_schema(schema)) for schema in PUBLISHED.values()}


_URIS = {
    id(AGENT): uri_of("main.toml"),
    id(CONFIG): PLACES.config_file,
    id(TESTS): uri_of("main.toml").replace("/agents/", "/tests/"),
}


def errors(schema: Schema, text: str) -> list[str]:
    validator = _VALIDATORS[id(schema)]
    return [error.message for error in validator.iter_errors(_as_json(tomli.loads(text)))]


def _as_json(value: Any) -> Any:
    """Dates become what no key wants."""
    if isinstance(value, dict):
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_json(each) for each in value]
    return value if isinstance(value, str | int | float) else None


def findings(schema: Schema, text: str) -> list[Finding]:
    file = read_agent_file(PLACES.locate(_URIS[id(schema)]), text)
    return list(diagnostics(Snapshot(), file))


def can_be_said(found: Iterable[Finding]) -> list[Finding]:
    return [
        each
        for each in found
        if each.code in SAID
        and each.severity <= Severity.WARNING
        and not any(re.match(pattern, each.message) for pattern in UNSAID)
    ]


def check_agreement(schema: Schema, text: str) -> None:
    found, said = can_be_said(findings(schema, text)), errors(schema, text)
    assert bool(found) == bool(said), f"{text}\ndiagnostics: {found}\nJSON Schema: {said}"


@pytest.mark.parametrize("name", agent_files())
def test_the_json_schema_agrees_about_the_fixtures_of_other_tests(name: str) -> None:
    check_agreement(PUBLISHED["agent"], agent_files()[name])


def test_there_are_enough_fixtures_right_and_wrong() -> None:
    said = [bool(errors(PUBLISHED["agent"], text)) for text in agent_files().values()]
    assert said.count(True) > 15
    assert said.count(False) > 15


@pytest.mark.parametrize(
    ("schema", "spec"),
    [
        pytest.param(schema, spec, id=spec.dotted)
        for schema in PUBLISHED.values()
        for spec in schema.keys
    ],
)
def test_the_json_schema_agrees_about_every_key_and_all_sorts_of_values(
    schema: Schema, spec: KeySpec
) -> None:
    for value in VALUES:
        check_agreement(schema, set_to(schema, spec, value))


@pytest.mark.parametrize("keyword", json_schema_keywords.KEYWORDS)
def test_the_json_schema_agrees_about_every_keyword_of_a_schema(keyword: str) -> None:
    for number, value in enumerate(OF_SCHEMAS):
        table = _TABLES[(number + len(keyword)) % len(_TABLES)]  # One code reads all of them.
        check_agreement(AGENT, f'{HEAD}[{table}]\n"{keyword}" = {value}\n')


_TABLES = ("input", "output", "output.properties.a", "params.response_format.schema")


@pytest.mark.parametrize("table", _TABLES)
def test_the_json_schema_agrees_about_a_schema_in_every_table(table: str) -> None:
    for keyword in ("type", "required", "properties", "minLength", "$ref"):
        for value in OF_SCHEMAS:
            check_agreement(AGENT, f'{HEAD}[{table}]\n"{keyword}" = {value}\n')


def test_both_know_the_same_keywords() -> None:
    assert published_schema.KEYWORDS.keys() == json_schema_keywords.KEYWORDS.keys()


@pytest.mark.parametrize("kind", PUBLISHED)
def test_the_command_prints_a_schema_that_is_one(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", kind]) == 0
    printed = json.loads(capsys.readouterr().out)
    Draft7Validator.check_schema(printed)
    assert printed == json_schema(PUBLISHED[kind])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[diagnostics]",
        "diagnostics = 1",
        "other = 1",
        "[diagnostics]\nname-mismatch = 1",
        "[diagnostics]\nname-mismatch = 'loud'",
        "[diagnostics]\nname-mismatched = 'off'",
        *(
            f"[diagnostics]\n{rule.code} = '{level}'"
            for rule in RULES
            if rule.is_protecting or rule.code == "name-mismatch"
            for level in SEVERITY_NAMES
        ),
    ],
)
def test_the_json_schema_of_check_toml_agrees_with_what_counts_of_it(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "axe" / "agents").mkdir(parents=True)
    (tmp_path / "axe" / "check.toml").write_text(text, "utf-8")
    assert main(["schema", "check"]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft7Validator.check_schema(schema)
    errors = [each.message for each in Draft7Validator(schema).iter_errors(tomli.loads(text))]
    complaints = project_severities.severities_for(tmp_path / "axe" / "agents").complaints
    assert len(errors) == len(complaints), (errors, complaints)


def test_the_json_schema_of_check_toml_explains_every_code() -> None:
    codes = project_severities.json_schema()["properties"]["diagnostics"]["properties"]
    assert {code: each["description"] for code, each in codes.items()} == {
        rule.code: rule.summary for rule in RULES
    }
    assert codes["name-mismatch"]["default"] == "warning"


def test_unknown_kinds_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["schema", "skill"])
    assert "'agent', 'config', 'test'" in capsys.readouterr().err


def test_the_page_lists_what_a_json_schema_cannot_say() -> None:
    page = PAGE.read_text("utf-8")
    missing = {
        rule.code
        for rule in RULES
        if rule.is_for is not Dialects.OTHERS and f"`{rule.code}`" not in page
    } - SAID
    assert not missing
