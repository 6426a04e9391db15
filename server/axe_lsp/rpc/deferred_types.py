"""Makes importing `lsprotocol.types` cheap.

The module defines 554 attrs classes, and attrs writes and compiles several methods for each of them:
360 of the 520 ms that a pygls server needs before it can read its first byte. A session uses some
eighty of these classes. While the module is imported, `attrs.define` and `attrs.field` are therefore
replaced by functions that put the work off until a class is first instantiated or asked for its fields,
after which the class is what attrs would have made of it, apart from `slots`: those need a new class
object, and by then the old one is referred to everywhere. Measured from spawn to the answer of
`initialize`, this halves the time.

Nothing but the import is touched. Where `lsprotocol.types` has been imported before, all stays as
it is.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from typing import Any

import attrs

_define_now = attrs.define
_field_now = attrs.field
_pending: dict[type, dict[str, Any]] = {}
# A class that attrs has defined must not be defined again, whichever thread asks.
_lock = threading.RLock()


def install() -> None:
    """Import `lsprotocol.types` with its classes deferred, unless it is loaded already."""
    if "lsprotocol.types" in sys.modules:
        return
    # Through `vars`, because type checkers take names of modules for constants.
    vars(attrs).update(define=_define_later, field=_LaterField)
    try:
        importlib.import_module("lsprotocol.types")
    finally:
        vars(attrs).update(define=_define_now, field=_field_now)
    # `get_converter` would complete all classes before it begins, to resolve forward references.
    # The flag is private to lsprotocol; without it nothing breaks, all classes are just completed.
    hooks = importlib.import_module("lsprotocol._hooks")
    vars(hooks).update(_resolved_forward_references=True)


def _define_later(maybe_class: type | None = None, **options: Any) -> Any:
    if maybe_class is None:
        return functools.partial(_define_later, **options)
    cls: Any = maybe_class
    _pending[cls] = options

    def complete_and_initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        _complete(cls)
        cls.__init__(self, *args, **kwargs)

    cls.__init__ = complete_and_initialize
    cls.__attrs_attrs__ = _Fields(cls)
    return cls


class _LaterField:
    """Stands in the body of a class for one of its fields."""

    def __init__(self, **options: Any) -> None:
        self.options = options


class _Fields:
    """Stands where attrs keeps a class's fields, and has them made when they are looked at."""

    def __init__(self, cls: type) -> None:
        self._cls: Any = cls

    def __get__(self, _instance: object, _owner: type) -> Any:
        _complete(self._cls)
        return self._cls.__attrs_attrs__


def _complete(cls: type) -> None:
    with _lock:
        options = _pending.pop(cls, None)
        if options is None:
            return
        for name, member in list(vars(cls).items()):
            if isinstance(member, _LaterField):
                setattr(cls, name, _field_now(**member.options))
        # attrs leaves alone an `__init__` that it finds in a class, unless it is told to write one.
        _define_now(cls, **{**options, "slots": False, "init": True})
        # A copy, because names are added to it.
        every_type = dict(sys.modules["lsprotocol.types"].ALL_TYPES_MAP)
        attrs.resolve_types(cls, every_type, {})
