"""Every key of config.toml, the user's own settings for providers, one row each.

axe and axe-lsp share the file. What is set in the environment wins over it.
"""

from __future__ import annotations

from axe_lsp.agentfile.key_spec import ANY_NAME, KeySpec, KeyType, Names, Schema

PROVIDERS = "providers"

_ONE = (PROVIDERS, ANY_NAME)

CONFIG = Schema(
    "config.toml",
    (
        KeySpec((PROVIDERS,), KeyType.TABLE, "Settings for providers, each a table of its own."),
        KeySpec(
            _ONE,
            KeyType.TABLE,
            "Settings for one provider, by the name that stands before the slash in `model`.",
            names=Names.PROVIDER,
        ),
        KeySpec(
            (*_ONE, "api_key"),
            KeyType.STRING,
            "The key that requests are sent with. `<PROVIDER>_API_KEY` in the environment wins over it "
            "(for google `GEMINI_API_KEY`).",
            default='""',
            is_secret=True,
        ),
        KeySpec(
            (*_ONE, "base_url"),
            KeyType.STRING,
            "Where requests are sent to. `AXE_<PROVIDER>_BASE_URL` in the environment wins over it. "
            "Empty: the provider's usual address.",
            default='""',
            names=Names.ADDRESS,
        ),
        KeySpec(
            (*_ONE, "region"),
            KeyType.STRING,
            "The region of AWS (axe, for bedrock). `AWS_REGION` and `AWS_DEFAULT_REGION` win over it.",
            default='""',
        ),
        KeySpec(
            (*_ONE, "referer"),
            KeyType.STRING,
            "What the provider is told about who asks (axe, for openrouter and requesty).",
            default='""',
        ),
        KeySpec(
            (*_ONE, "title"),
            KeyType.STRING,
            "The name of the program that the provider shows (axe, for openrouter and requesty).",
            default='""',
        ),
        KeySpec(
            (*_ONE, "categories"),
            KeyType.STRING,
            "Categories of the program (axe, for openrouter).",
            default='""',
        ),
    ),
)
