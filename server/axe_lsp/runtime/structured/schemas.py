"""Whether values fit JSON Schemas, and what people and models are told of those that don't.

The schemas are those of agent files, which were judged when they were loaded. jsonschema is
imported with the first schema that is used: agents without one never wait for it. No schema is ever
fetched.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar
from functools import cache, partial
from itertools import islice
from typing import Any

from msgspec import Struct

from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.processes import bare_environment, module_command

Schema = Mapping[str, Json]


class Check(Struct, frozen=True):
    """Says "" of a value that fits, else where it does not and why.

    `quick` says None of a value whose check takes longer than others may wait; `thorough` takes seconds at worst.
    """

    quick: Callable[[Json], str | None]
    thorough: Callable[[Json], str]

    def __call__(self, value: Json) -> str:
        """Return the fault of a value, "" if it is valid. For callers that may block, as in a thread."""
        found = self.quick(value)
        return self.thorough(value) if found is None else found

    async def on_loop(self, value: Json) -> str:
        """Return where an event loop must not wait."""
        found = self.quick(value)
        if found is not None:
            return found
        # Imported late: a process that only checks files has no event loop.
        import anyio.to_thread

        return await anyio.to_thread.run_sync(self.thorough, value, abandon_on_cancel=True)


MAX_REASONS = 5
"""So many things that are wrong are named at once."""

_LONGEST_REASON = 300


def check_of(schema: Schema, name: str) -> Check:
    """Return the check of values, which people call `name`, against a schema."""
    thorough = partial(_check_in_process, schema, name)
    whole = {word: each for word, each in schema.items() if word != _DIALECT}
    # What names its dialect again below is judged by a class that counts no steps.
    is_quick = not _has_words((*_PATTERNS, *_UNCOUNTED, _DIALECT), whole)
    return Check(_quick_check(whole, name) if is_quick else lambda _: None, thorough)


def _quick_check(schema: Schema, name: str) -> Callable[[Json], str | None]:
    """Return the check in this process, which is given up after so many steps: references can double them without end."""
    check = _check_with(_counted_validator(), schema, name)

    def quick(value: Json) -> str | None:
        try:
            _EFFORT.set(_Effort(value))
            return check(value)
        except RecursionError:
            return f"{name} is nested too deeply"
        except _LongerError:
            return None

    return quick


_MOST_STEPS = 10_000
"""Some fifty milliseconds."""


class _LongerError(Exception):
    """A check takes longer than others may wait."""


class _Effort:
    """The steps of a check, of which each is a keyword that is applied to a part of the value.

    A part that does not fit is written into a message, and may be the whole value, so a step counts more
    if the value is large.
    """

    def __init__(self, value: Json) -> None:
        """Take a value. Raises RecursionError."""
        self._left = _MOST_STEPS
        self._size = len(json.dumps(value))
        self._weight = 1 + self._size // 20_000

    def spend(self, keyword: str, wanted: Any, part: Any) -> None:
        """Count a step. Raises _LongerError."""
        self._left -= self._weight + _length(wanted) // 50
        is_large = isinstance(part, (list, dict))
        if keyword in ("enum", "const") and is_large:
            self._left -= self._size * _length(wanted) // 10
        elif keyword == "uniqueItems" and is_large and not _can_be_sorted(part):
            self._left -= self._size * len(part) // 10
        if self._left < 0:
            raise _LongerError


_EFFORT: ContextVar[_Effort] = ContextVar("_EFFORT")


@cache
def _counted_validator() -> Any:
    """Return the class of jsonschema, with keywords whose steps are counted."""
    from jsonschema import Draft202012Validator, validators

    def counted(keyword: str, apply: Callable[..., Any]) -> Callable[..., Any]:
        def applied(validator: Any, wanted: Any, part: Any, schema: Any) -> Any:
            _EFFORT.get().spend(keyword, wanted, part)
            return apply(validator, wanted, part, schema)

        return applied

    known = Draft202012Validator.VALIDATORS.items()
    return validators.extend(
        Draft202012Validator, {word: counted(word, apply) for word, apply in known}
    )


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (list, dict)) else 0


def _can_be_sorted(items: Any) -> bool:
    """Return whether it is quickly found which of the items are equal."""
    kinds = set(map(type, items))
    return kinds <= {str} or kinds <= {int, float, bool}


def _check_with(kind: Any, schema: Schema, name: str) -> Callable[[Json], str]:
    """Return the check in this process, by a class of jsonschema."""
    from jsonschema.exceptions import best_match
    from referencing import Registry

    validator = kind(schema, registry=Registry())

    def check(value: Json) -> str:
        try:
            errors = list(islice(validator.iter_errors(value), MAX_REASONS))
            # The best match is what a person would name: the alternative that nearly fits.
            reasons = [_reason(best_match([error]), name) for error in errors]
        except RecursionError:
            return f"{name} is nested too deeply"
        except OverflowError:
            return f"{name} has a number that is too large to be checked"
        return "; ".join(dict.fromkeys(reasons))

    return check


_PROCESSOR_SECONDS = 1
"""The limits of a check. The system enforces them, so no process remains if another is killed."""

_MOST_MEMORY = 1 << 30
"""Bytes for a check: what does not fit is written into messages, one for each alternative of the schema."""

_PATIENCE = 10.0
"""Seconds until a check is ended on any system, however little of the processor it got."""


def _check_in_process(schema: Schema, name: str, value: Json) -> str:
    """Check a value in a process that ends in any case: a regular expression may take for ever.

    Python's engine holds up all threads of its process meanwhile and can't be interrupted. One that runs in
    linear time would lack what authors of schemas use, such as lookahead. References can make a check endless, too.
    It takes about a tenth of a second, and blocks.
    """
    try:
        question = json.dumps([schema, name, value]).encode()
        done = subprocess.run(
            module_command(__name__),
            input=question,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            env=bare_environment(),
            check=False,
        )
    except RecursionError:
        return f"{name} is nested too deeply"
    except OSError as error:
        return f"{name} can't be checked: {error.strerror}"
    except subprocess.TimeoutExpired:
        return _too_long(schema, name)
    if done.returncode < 0:
        return _too_long(schema, name)
    if done.returncode > 0:
        return f"{name} can't be checked: the process that does it ended with {done.returncode}"
    return str(json.loads(done.stdout))


def main() -> None:
    """Answer the one question on standard input of such a process."""
    if sys.platform != "win32":
        import resource

        limits = (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, limits)
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    schema, name, value = json.load(sys.stdin)
    try:
        from jsonschema import Draft202012Validator

        complaint = _check_with(Draft202012Validator, schema, name)(value)
    except RecursionError:
        complaint = f"{name} is nested too deeply"
    except MemoryError:
        complaint = f"{name} can't be checked: it takes more than 1 GB of memory with its schema"
    json.dump(complaint, sys.stdout)


def _too_long(schema: Schema, name: str) -> str:
    what = "a pattern of its schema" if _has_words(_PATTERNS, schema) else "its schema"
    return f"{name} can't be checked: {what} takes too long on it"


def object_schema(schema: Schema) -> Schema:
    """Return a schema of objects, of which `type` may have been left out."""
    return {"type": "object", **schema}


def _has_words(words: Collection[str], schema: Json) -> bool:
    """Return whether a keyword may be in it. A property of such a name does no harm."""
    if isinstance(schema, list):
        return any(_has_words(words, each) for each in schema)
    if not isinstance(schema, Mapping):
        return False
    is_here = any(word in schema for word in words)
    return is_here or any(_has_words(words, each) for each in schema.values())


_PATTERNS = ("pattern", "patternProperties")
_UNCOUNTED = ("unevaluatedItems", "unevaluatedProperties")
"""Keywords for which jsonschema follows references without applying a keyword, so that no step is counted."""

_DIALECT = "$schema"


def canonical_json(value: Json) -> str:
    """Compact JSON, the same for equal values: members are sorted."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _reason(error: Any, name: str) -> str:
    place = _place(name, error.absolute_path)
    wanted = error.validator_value
    if error.validator == "required":
        missing = [_place(place, [each]) for each in wanted if each not in error.instance]
        return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if error.validator == "type":
        types = " or ".join([wanted] if isinstance(wanted, str) else wanted)
        found = _TYPES.get(type(error.instance), "null")
        return f"{place} must be of type {types}, not {found}"
    if _is_closed(error):
        known = error.schema.get("properties", {})
        unknown = [_place(place, [each]) for each in error.instance if each not in known]
        return _bounded(f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} unknown")
    if error.validator in _WORDS:
        return _bounded(f"{place} {_WORDS[error.validator]} {canonical_json(wanted)}")
    return _bounded(f"{place}: {error.message}")


def _is_closed(error: Any) -> bool:
    """Return whether members are complained about that the schema does not name."""
    is_closed = error.validator == "additionalProperties" and error.validator_value is False
    return is_closed and "patternProperties" not in error.schema


_WORDS = {
    "const": "must be",
    "enum": "must be one of",
    "exclusiveMaximum": "must be less than",
    "exclusiveMinimum": "must be greater than",
    "maxItems": "may not have more items than",
    "maxLength": "may not have more characters than",
    "maximum": "may not be greater than",
    "minItems": "may not have fewer items than",
    "minLength": "may not have fewer characters than",
    "minimum": "may not be less than",
    "multipleOf": "must be a multiple of",
    "pattern": "must match the regular expression",
}
"""The text of a keyword before its value; jsonschema's own texts repeat the whole instance."""


def _place(name: str, path: Iterable[str | int]) -> str:
    """Return a place in a value, as people write it: `input.items[0].path`."""
    for part in path:
        if isinstance(part, str) and part.isidentifier():
            name += f".{part}"
        else:
            name += f"[{json.dumps(part, ensure_ascii=False)}]"
    return name


_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"
