"""The type of a row of a schema, its short forms, and a schema: all keys of one kind of file. The rows are in `agent_keys.py` and its neighbours."""

from __future__ import annotations

from enum import Enum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypedDict

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from typing_extensions import Unpack  # `typing` has it from Python 3.11 on.

KeyPath = tuple[str, ...]

ANY_NAME = "*"
"""The part of a path that stands for a name that the user chooses."""

FIRST_AXE = "axe 0.1"
"""The value of `since` for keys of the first version of axe."""

EXTENSION = "axe-lsp"
"""The value of `since` for keys that axe does not have. axe ignores such a key, so it still loads the file."""


class KeyType(Enum):
    """The type of a key's value. The value of the member is the name that users see."""

    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    STRINGS = "array of strings"
    TABLE = "table"
    TABLES = "array of tables"
    STRING_TABLE = "table of strings"
    JSON_SCHEMA = "table (JSON Schema)"
    ANY_TABLE = "table of anything"
    ANY = "any value"


_OPEN = (KeyType.JSON_SCHEMA, KeyType.STRING_TABLE, KeyType.ANY_TABLE)


_TABLES = (KeyType.TABLE, KeyType.TABLES, *_OPEN)


class Names(Enum):
    """The meaning of a key's strings, for completion, hover, definition and references."""

    STEM = "the file itself"
    AGENT = "agent"
    TASK_TYPE = "agent type or agent"
    PRESET = "built-in agent type"
    MODEL = "model"
    TOOL = "tool"
    SKILL = "skill file"
    GLOB = "file glob"
    FOLDER = "folder"
    ADDRESS = "http or https address"
    PROVIDER = "provider"
    """A provider, as a table whose name the user chooses."""
    FILE = "file, from the folder of this one"


class KeySpec(Struct, frozen=True):
    """One key.

    `path` is the dotted path of the key; for a key in an array of tables the array's index is left
    out (`mcp_servers.name`). `default` is how the value in force is written when the key is absent.
    A string in place of a table sets the key `shorthand` of it. Values of the types in `also` are
    valid too; `choices` then only concern strings. `suggestions` are usual words where others are valid.
    `no_effect` says why the key has no effect where it may be written, and `deprecated` what to write in
    place of a key that the program still obeys. `unknown_below` says where unknown keys of a table belong; the program rejects
    the file for one in a table that `rejects_unknown` ones. The program takes a table
    `or_empty_array` where it reads the members of a table by their order, too.
    `code` is the diagnostic for a value outside `minimum`, `maximum` or `choices`; `says_value`
    whether axe's message about it ends with the value. A value that `is_secret` is never shown.
    """

    path: KeyPath
    type: KeyType
    doc: str
    default: str | None = None
    since: str = FIRST_AXE
    required: bool = False
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    names: Names | None = None
    shorthand: str = ""
    code: str = "out-of-range"
    says_value: bool = False
    is_secret: bool = False
    also: tuple[KeyType, ...] = ()
    suggestions: tuple[str, ...] = ()
    no_effect: str = ""
    or_empty_array: bool = False
    deprecated: str = ""
    unknown_below: str = ""
    rejects_unknown: bool = False

    @property
    def dotted(self) -> str:
        """The path as users and axe's messages write it."""
        return ".".join(self.path)

    @property
    def is_extension(self) -> bool:
        """Whether axe itself does not know the key."""
        return self.since == EXTENSION

    @property
    def is_open(self) -> bool:
        """Whether it can be a table whose keys are the user's business."""
        return self.type in _OPEN or (self.takes_anything and not self.is_table)

    @property
    def takes_anything(self) -> bool:
        """Whether a value of any type is valid, tables included."""
        return KeyType.ANY in (self.type, *self.also)

    @property
    def is_table(self) -> bool:
        """Whether the key is written as a `[header]` rather than as `key = value`."""
        return self.type in _TABLES

    @property
    def table_type(self) -> KeyType | None:
        """The type that it has as a table or an array of tables, if it can be one."""
        return next((each for each in (self.type, *self.also) if each in _TABLES), None)


class Schema(Struct, frozen=True, eq=False, dict=True):
    """The keys that one kind of file may have, a row each. `name` is what users call such a file.

    `program` reads such files. It rejects a file with an unknown key at the top if it `rejects_unknown`
    ones, takes a date where a string belongs if it `has_dates_as_text`, and an empty word for no word if
    `empty_is_absent`. If it `is_judged_alone`, rows are for completion and hover, and the judge of the dialect finds all
    problems. There is one of each kind, so they are told apart by identity: what is known of one is
    looked up at once.
    """

    name: str
    keys: tuple[KeySpec, ...]
    program: str = "axe"
    rejects_unknown: bool = False
    has_dates_as_text: bool = False
    empty_is_absent: bool = True
    is_judged_alone: bool = False

    def find(self, path: KeyPath) -> KeySpec | None:
        """Return the row of a key; a name of the user's own matches `*`."""
        if len(path) > self._depth:
            return None  # A path may have thousands of parts, each of which would be looked at.
        spec = self.rows.get(path)
        if spec is not None or not path or not (path[0] in self._first or ANY_NAME in self._first):
            return spec
        return _row_of_any_name(self, path)

    def key(self, path: KeyPath) -> KeySpec:
        """Return the row of a key that is known to have one."""
        return self.rows[path]

    def keys_of(self, table: KeyPath) -> tuple[KeySpec, ...]:
        """Return the keys directly inside a table, in the order of the rows. The root is `()`."""
        parent = self.find(table)
        return self._inside.get(parent.path if parent is not None else table, ())

    def is_open(self, path: KeyPath) -> bool:
        """Return whether a table's keys are the user's business: JSON Schemas, maps of strings, names."""
        for end in range(1, min(len(path), self._depth) + 1):
            spec = self.find(path[:end])
            if spec is not None and spec.is_open:
                return True
        return False

    @cached_property
    def rows(self) -> dict[KeyPath, KeySpec]:
        """The rows by path."""
        return {key.path: key for key in self.keys}

    @cached_property
    def _first(self) -> frozenset[str]:
        """The names of the keys at the top."""
        return frozenset(key.path[0] for key in self.keys)

    @cached_property
    def _depth(self) -> int:
        """The number of parts of the longest path."""
        return max((len(key.path) for key in self.keys), default=0)

    @cached_property
    def _inside(self) -> dict[KeyPath, tuple[KeySpec, ...]]:
        tables: dict[KeyPath, tuple[KeySpec, ...]] = {}
        for key in self.keys:
            tables[key.path[:-1]] = (*tables.get(key.path[:-1], ()), key)
        return tables


@lru_cache(maxsize=4096)
def _row_of_any_name(schema: Schema, path: KeyPath) -> KeySpec | None:
    """Return the row that has `*` in place of parts. Each keystroke asks for the same paths again."""
    row: KeyPath = ()
    for part in path:
        here = next(
            (each for each in ((*row, part), (*row, ANY_NAME)) if each in schema.rows), None
        )
        if here is None:
            return None
        row = here
    return schema.rows[row] if row else None


# -- short forms of rows: paths are written with dots, and choices as words with spaces


class Columns(TypedDict, total=False):
    """The columns of a row that its short form leaves to the table."""

    default: str
    since: str
    required: bool
    maximum: int
    names: Names
    shorthand: str
    code: str
    says_value: bool
    is_secret: bool
    also: tuple[KeyType, ...]
    suggestions: tuple[str, ...]
    no_effect: str
    or_empty_array: bool
    deprecated: str
    unknown_below: str
    rejects_unknown: bool


class AllColumns(Columns, total=False):
    """The same with those that the other short forms give themselves."""

    minimum: int
    choices: tuple[str, ...]


def row(dotted: str, type_: KeyType, doc: str, **columns: Unpack[AllColumns]) -> KeySpec:
    """Return the row of one key."""
    return KeySpec(tuple(dotted.split(".")), type_, doc, **columns)


def choice(dotted: str, words: str, doc: str, **columns: Unpack[Columns]) -> KeySpec:
    """Return a key whose value is one of some words."""
    return row(dotted, KeyType.STRING, doc, choices=tuple(words.split()), **columns)


def count(dotted: str, doc: str, minimum: int = 0, **columns: Unpack[Columns]) -> KeySpec:
    """Return a key whose value is a whole number that can't be negative."""
    return row(dotted, KeyType.INTEGER, doc, minimum=minimum, **columns)


def rows(type_: KeyType, docs: dict[str, str], **columns: Unpack[Columns]) -> tuple[KeySpec, ...]:
    """Return the rows of keys that differ only in name and description."""
    return tuple(row(dotted, type_, doc, **columns) for dotted, doc in docs.items())


def table(
    dotted: str,
    doc: str,
    *keys: KeySpec,
    type_: KeyType = KeyType.TABLE,
    **columns: Unpack[Columns],
) -> tuple[KeySpec, ...]:
    """Return a table and its keys, as `below` has them."""
    header = row(dotted, type_, doc, **columns)
    return (header, *below(dotted, *keys, since=header.since))


def below(table: str, *keys: KeySpec, since: str = FIRST_AXE) -> tuple[KeySpec, ...]:
    """Return the keys of a table, whose own paths begin in it. Their `since` is that of the table, unless they have one."""
    above = tuple(table.split("."))
    return tuple(
        replace(key, path=(*above, *key.path), since=since if key.since == FIRST_AXE else key.since)
        for key in keys
    )


BACKOFFS = ("exponential", "linear", "fixed")
"""How waits grow between the attempts of a request."""

RETRY_KEYS = (
    count(
        "max_retries",
        "Number of times that a failed request is sent again. Absent: twice if no byte of an answer has come or the "
        "provider names a wait, else never.",
    ),
    choice("backoff", " ".join(BACKOFFS), "Growth of the waits.", default='"exponential"'),
    count("initial_delay_ms", "The first wait in milliseconds. 0 means 500.", default="500"),
    count("max_delay_ms", "The longest wait in milliseconds. 0 means 30000.", default="30000"),
)
"""The keys of `[retry]`, which agent files and config.toml have."""
