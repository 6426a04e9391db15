"""provider/model-name, with axe's error texts."""

import pytest

from axe_lsp.agentfile.schema.providers import ModelName, ModelNameError, parse_model_name


def test_only_the_first_slash_splits() -> None:
    assert parse_model_name("openrouter/meta/llama") == ModelName("openrouter", "meta/llama")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gpt", "expected provider/model-name"),
        ("/gpt", "empty provider"),
        ("openai/", "empty model name"),
    ],
)
def test_invalid_model_name_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ModelNameError) as caught:
        parse_model_name(text)
    assert str(caught.value) == f'invalid model format "{text}": {reason}'
