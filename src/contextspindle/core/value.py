"""Values: immutable records, written like ``typing.NamedTuple``, free to import.

Every command is a new process, and importing ``typing`` costs as much as starting the interpreter.
So the type checker sees ``typing.NamedTuple`` here, and the running program sees a metaclass that
does the same work: fields in the order of their annotations, defaults, tuple equality and
``_replace``.  ``__init__`` is not generated: a value is a tuple, made whole or not at all.
"""

from __future__ import annotations

__all__ = ["Value"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as Value
else:
    try:
        from _collections import _tuplegetter
    except ImportError:  # another implementation of Python
        from operator import itemgetter

        def _tuplegetter(index, doc):
            return property(itemgetter(index), doc=doc)

    class _ValueType(type):
        def __new__(mcs, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            namespace["__slots__"] = ()
            namespace["_fields"] = fields
            namespace["_field_defaults"] = defaults
            namespace["_needed"] = len(fields) - len(defaults)  # those without a default come first
            namespace["_rest"] = tuple(defaults.get(field) for field in fields)
            for index, field in enumerate(fields):
                namespace[field] = _tuplegetter(index, field)
            return super().__new__(mcs, name, bases, namespace)

    class Value(tuple, metaclass=_ValueType):
        """An immutable record: subclass it with annotated fields and, if wanted, defaults."""

        def __new__(cls, *positional, **named):
            fields, given = cls._fields, len(positional)
            if given > len(fields):
                raise TypeError(f"{cls.__name__} takes {len(fields)} values, not {given}")
            if given < cls._needed:
                for field in fields[given : cls._needed]:
                    if field not in named:
                        raise TypeError(f"{cls.__name__} misses {field}")
            if not named:
                return tuple.__new__(cls, positional + cls._rest[given:])
            values = [*positional, *cls._rest[given:]]
            for field, value in named.items():
                if field not in fields[given:]:
                    raise TypeError(f"{cls.__name__} has no field {field} left to set")
                values[fields.index(field)] = value
            return tuple.__new__(cls, values)

        def _replace(self, **named):
            fields, values = self._fields, list(self)
            for field, value in named.items():
                if field not in fields:
                    raise TypeError(f"{type(self).__name__} has no field {field}")
                values[fields.index(field)] = value
            return tuple.__new__(type(self), values)

        def _asdict(self):
            return dict(zip(self._fields, self))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            inside = ", ".join(f"{f}={v!r}" for f, v in zip(self._fields, self))
            return f"{type(self).__name__}({inside})"
