"""The table of models."""

from __future__ import annotations

from datetime import date

from axe_lsp.agentfile.schema.model_name import parse_model_name
from axe_lsp.agentfile.schema.models import MODELS, READ_ON, SOURCES, known_model
from axe_lsp.agentfile.schema.providers import PROVIDERS


def test_every_row_names_a_model_that_can_be_run_and_says_where_its_figures_are_from() -> None:
    for model in MODELS:
        assert parse_model_name(str(model)).provider in PROVIDERS
        assert SOURCES[model.provider].startswith("https://")
        assert 0 < model.max_output < model.context
        assert 0 < model.cached_price < model.input_price < model.output_price
        assert model.input_price <= model.written_price
        assert model.dearer_above < model.context


def test_no_model_is_listed_twice_or_after_its_end() -> None:
    assert len({str(model) for model in MODELS}) == len(MODELS)
    read = date.fromisoformat(READ_ON)
    assert all(date.fromisoformat(model.ends) > read for model in MODELS if model.ends)


def test_a_model_is_known_by_what_agent_files_call_it() -> None:
    model = known_model(str(MODELS[0]))
    assert model is MODELS[0]
    assert known_model(MODELS[0].name) is None
