"""Every key of config.toml, the user's own settings, one row each.

axe and axe-lsp share the file. What is set in the environment wins over it.
"""

from __future__ import annotations

from axe_lsp.agentfile.schema.key_spec import ANY_NAME, EXTENSION, KeySpec, KeyType, Names, Schema
from axe_lsp.agentfile.schema.providers import AUTH_NAMES, WIRE_NAMES

PROVIDERS = "providers"

ENGINES = ("here", "ssh", "dask")
"""Where the copies of agents with `[isolation] mode = "copy"` are."""

_ONE = (PROVIDERS, ANY_NAME)

CONFIG = Schema(
    "config.toml",
    (
        KeySpec((PROVIDERS,), KeyType.TABLE, "Settings for providers, one table each."),
        KeySpec(
            _ONE,
            KeyType.TABLE,
            "Settings for one provider; its name is the part of `model` before the slash.",
            names=Names.PROVIDER,
        ),
        KeySpec(
            (*_ONE, "api_key"),
            KeyType.STRING,
            "The API key. `<PROVIDER>_API_KEY` in the environment overrides it "
            "(for google `GEMINI_API_KEY`).",
            default='""',
            is_secret=True,
        ),
        KeySpec(
            (*_ONE, "base_url"),
            KeyType.STRING,
            "The address of the service. `AXE_<PROVIDER>_BASE_URL` in the environment overrides it. Empty: "
            "the provider's usual address.",
            default='""',
            names=Names.ADDRESS,
        ),
        KeySpec(
            (*_ONE, "wire"),
            KeyType.STRING,
            "The wire format of the service. A provider that is not built in needs it, and can then be used "
            "as `NAME/model`. Built-in providers have a default.",
            since=EXTENSION,
            choices=WIRE_NAMES,
        ),
        KeySpec(
            (*_ONE, "api_key_env"),
            KeyType.STRING,
            "The environment variable that holds the key, in place of `<PROVIDER>_API_KEY`.",
            since=EXTENSION,
        ),
        KeySpec(
            (*_ONE, "auth"),
            KeyType.STRING,
            "How requests send the key: `bearer` in the header `Authorization`, in the header of that name, "
            "as a signature (`sigv4`), or not at all. The default depends on the wire.",
            since=EXTENSION,
            choices=AUTH_NAMES,
        ),
        KeySpec(
            (*_ONE, "headers"),
            KeyType.STRING_TABLE,
            "Additional headers of each request; `${VAR}` takes a value from the environment. They "
            "do not replace the key's header unless `auth` is `none`.",
            since=EXTENSION,
        ),
        KeySpec(
            (*_ONE, "query"),
            KeyType.STRING_TABLE,
            "Parameters that are appended to the address, such as Azure's `api-version`; `${VAR}` takes "
            "a value from the environment.",
            since=EXTENSION,
        ),
        KeySpec(
            (*_ONE, "max_concurrent"),
            KeyType.INTEGER,
            "Maximum number of requests to this provider at the same time. 0 means no limit.",
            default="0",
            since=EXTENSION,
            minimum=0,
        ),
        KeySpec(
            (*_ONE, "region"),
            KeyType.STRING,
            "The region of AWS (axe, for bedrock). `AWS_REGION` and `AWS_DEFAULT_REGION` override that of "
            "`bedrock`, not those of providers with names of your own.",
            default='""',
        ),
        KeySpec(
            (*_ONE, "referer"),
            KeyType.STRING,
            "The address of your program, for the provider (axe, for openrouter and requesty).",
            default='""',
        ),
        KeySpec(
            (*_ONE, "title"),
            KeyType.STRING,
            "The name of your program, which the provider shows (axe, for openrouter and requesty).",
            default='""',
        ),
        KeySpec(
            (*_ONE, "categories"),
            KeyType.STRING,
            "Categories of the program (axe, for openrouter).",
            default='""',
        ),
        KeySpec(
            ("execution",),
            KeyType.TABLE,
            'Where agents with `[isolation] mode = "copy"` work.',
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "engine"),
            KeyType.STRING,
            "`here`: in copies on this machine. `ssh`: in copies on the machines of `execution.ssh.hosts`. `dask`: on "
            "the workers of `execution.dask.scheduler`. The setting `axe.execution.engine` and `axe-lsp run --on` override it.",
            default='"here"',
            since=EXTENSION,
            choices=ENGINES,
        ),
        KeySpec(
            ("execution", "slots"),
            KeyType.INTEGER,
            "Maximum number of commands that agents run at the same time on one other machine.",
            default="4",
            since=EXTENSION,
            minimum=1,
        ),
        KeySpec(
            ("execution", "keep_copies"),
            KeyType.INTEGER,
            "Seconds for which another machine keeps the files of a project, so that the next copy is made faster. 0: "
            "until the last copy is closed.",
            default="3600",
            since=EXTENSION,
            minimum=0,
        ),
        KeySpec(
            ("execution", "wait"),
            KeyType.INTEGER,
            "Seconds to wait for a machine that can be reached, before the agent fails.",
            default="60",
            since=EXTENSION,
            minimum=0,
        ),
        KeySpec(
            ("execution", "ssh"),
            KeyType.TABLE,
            "Machines that are reached by ssh.",
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "ssh", "hosts"),
            KeyType.STRINGS,
            "The machines: names as `ssh` knows them, `USER@HOST`, or `ssh://USER@HOST:PORT`.",
            default="[]",
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "ssh", "ssh"),
            KeyType.STRING,
            "The ssh program with its options, such as `ssh -i ~/.ssh/build`.",
            default='"ssh"',
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "ssh", "axe"),
            KeyType.STRING,
            "The program axe-lsp on these machines, as the shell there finds it.",
            default='"axe-lsp"',
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "dask"),
            KeyType.TABLE,
            "The workers of a cluster of Dask.",
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "dask", "scheduler"),
            KeyType.STRING,
            "The address of the scheduler: `tls://HOST:PORT`.",
            default='""',
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "dask", "ca"),
            KeyType.STRING,
            "The certificate of your own authority, which has signed those of the scheduler and of all workers: a file "
            "in PEM format. No other authority is trusted.",
            default='""',
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "dask", "cert"),
            KeyType.STRING,
            "Your certificate, signed by this authority.",
            default='""',
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "dask", "key"),
            KeyType.STRING,
            "The key of your certificate, without a passphrase.",
            default='""',
            since=EXTENSION,
        ),
        KeySpec(
            ("execution", "dask", "insecure"),
            KeyType.BOOLEAN,
            "Allow `tcp://`, without TLS: everybody who reaches such a cluster can execute commands there.",
            default="false",
            since=EXTENSION,
        ),
    ),
)
