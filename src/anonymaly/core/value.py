# SPDX-License-Identifier: Apache-2.0
"""`Value`, the base of every declaration, question and promise: frozen, validated, with one JSON form."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import textwrap
from collections.abc import Mapping
from numbers import Integral
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymaly.core.descriptions import descriptions_of
from anonymaly.core.mistakes import describe_mistake
from anonymaly.errors import InputError


def canonical_json(data: Any) -> str:
    """Write plain data so that equal data are equal text: sorted names, no spaces, ASCII, no NaN.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    if not is_text(text):
        raise InputError("has half a surrogate pair in a text", next_step="Give text that is valid Unicode.")
    return text


def is_text(text: str) -> bool:
    """Say whether a text is valid Unicode, as files and engines need: no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def digest(data: Any) -> str:
    """Return the SHA-256 of plain data in its canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def _only_numbers(number: Any) -> Any:
    if isinstance(number, bool) or not isinstance(number, Integral | float):
        raise ValueError("must be a number")
    try:
        finite = math.isfinite(number)
    except OverflowError:
        raise ValueError("must be below 1e308") from None
    if not finite:
        raise ValueError("must be finite, got NaN or infinity")
    return int(number) if isinstance(number, Integral) else float(number)  # numpy's numbers become plain ones


def _shortest(number: int | float) -> int | float:
    # 120 and 120.0 declare the same bound, so they must be the same text in a fingerprint.
    # Engines hold whole numbers of at most 64 bits.
    if abs(number) >= 2**63:
        return float(number)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _in_order(values: Any) -> Any:
    # Python orders a set of text anew in every process, so it would be another declaration each time.
    if isinstance(values, set | frozenset):
        raise ValueError("has no order; give a list")
    return values


Ordered = BeforeValidator(_in_order)
Number = Annotated[int | float, BeforeValidator(_only_numbers), AfterValidator(_shortest)]


def frozen_items(data: Any) -> Any:
    """Return a mapping as its sorted items, with lists as tuples; return items as they are.

    A dict can be neither hashed nor frozen, and the order in which it was written means nothing.

    Examples
    --------
    >>> frozen_items({"b": [1, 2], "a": 0})
    (('a', 0), ('b', (1, 2)))
    """
    if not isinstance(data, Mapping):
        if data is None or isinstance(data, tuple | list):
            return data
        raise ValueError('must be names with values, as in {"age": 30}')
    items = ((str(name), tuple(item) if isinstance(item, list) else item) for name, item in data.items())
    return tuple(sorted(items, key=lambda item: item[0]))


def _plain_mapping(items: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    return {name: list(item) if isinstance(item, tuple) else item for name, item in items}


Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
FrozenMapping = Annotated[
    tuple[tuple[StrictStr, Scalar | tuple[Scalar, ...]], ...],
    BeforeValidator(frozen_items),
    PlainSerializer(_plain_mapping, return_type=dict[str, Any]),
]


def added(default: Any, **options: Any) -> Any:
    """Declare a field that a value did not always have: its JSON leaves it out while it has its default.

    Ledgers, stored answers and people hold canonical texts, fingerprints and digests that were made without
    the field. They stay the same as long as nobody uses it, and old data are read with the default. So every
    field that is added to a value that was ever released is declared by this, and its default, which must
    mean what values without the field meant, never changes.

    Parameters
    ----------
    default
        The value of the field in data without it; a constant.
    options
        Other arguments of pydantic's ``Field``, such as ``description`` and ``ge``.

    Examples
    --------
    >>> class Room(Value):
    ...     name: str
    ...     floor: int = added(0, ge=0)
    >>> Room("attic").to_json(), Room("attic", floor=3).to_json()
    ('{"name":"attic"}', '{"floor":3,"name":"attic"}')
    >>> Room.read({"name": "attic"}).floor
    0
    """
    return Field(default=default, exclude_if=lambda value: value == default, **options)


PYDANTIC = frozenset(dir(BaseModel))


class Frozen(BaseModel):
    """A frozen value: equal fields are the same value, and its JSON says all of it.

    All fields are in the JSON, defaults too, except for those that were added after the value was first
    released: declare every new field by ``added``, or texts, fingerprints and digests that exist change.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=False,
        revalidate_instances="always",
        ser_json_inf_nan="null",
    )

    # Declarations read better as Interval(0, 120); the fields of questions are always named.
    takes_positions: ClassVar[bool] = True
    named_only: ClassVar[frozenset[str]] = frozenset({"type"})  # fields that have no position

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        # A field is described once, under its name; docstring, help, errors and documentation follow.
        for name, text in descriptions_of(cls).items():
            if name in cls.model_fields and cls.model_fields[name].description is None:
                cls.model_fields[name].description = text
        cls.__doc__ = with_parameters(inspect.getdoc(cls) or "", cls)
        cls.__signature__ = signature_of(cls)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # Descriptions come after the fields' own schemas are made, so they are not in these.
        made = handler(schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for name, field in cls.model_fields.items():
            if field.description is not None and name in properties:
                properties[name].setdefault("description", field.description)
        return made

    def __dir__(self) -> list[str]:
        # pydantic's own names are none of the user's.
        return [name for name in super().__dir__() if name not in PYDANTIC or name.startswith("__")]

    def __setattr__(self, name: str, item: Any) -> None:
        raise self._frozen(name)

    def __delattr__(self, name: str) -> None:
        raise self._frozen(name)

    def _frozen(self, name: str) -> InputError:
        return InputError(
            f"{type(self).__name__} is frozen: its fields cannot be changed",
            field=name,
            next_step="Make another one.",
        )

    def __init__(self, /, *positions: Any, **fields: Any) -> None:
        if positions:
            fields = self._name(positions, fields)
        try:
            super().__init__(**fields)
        except ValidationError as problem:
            raise describe_mistake(problem, type(self)) from None

    @classmethod
    def _name(cls, positions: tuple[Any, ...], fields: dict[str, Any]) -> dict[str, Any]:
        names = [name for name in cls.model_fields if name not in cls.named_only]
        names = names if cls.takes_positions else []
        if len(positions) > len(names) or any(name in fields for name in names[: len(positions)]):
            raise InputError(
                f"{cls.__name__} was given {_counted(len(positions), 'value')} without a name",
                next_step=f"Name the fields: {', '.join(cls.model_fields)}.",
            )
        return {**dict(zip(names, positions, strict=False)), **fields}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the value from plain data; unknown fields are refused."""
        if not isinstance(data, Mapping):
            raise InputError(
                f"must be a mapping of the fields of {cls.__name__}, got {type(data).__name__}",
                next_step=f"Give {', '.join(cls.model_fields)}.",
            )
        return cls(**{str(name): item for name, item in data.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain data that JSON and YAML can hold."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Return the value's one canonical text."""
        return canonical_json(self.to_dict())


def signature_of(kind: type[Frozen]) -> inspect.Signature:
    """Return how a value is made, as people read it: names and defaults, ε last, no types of validators.

    Examples
    --------
    >>> class Room(Value):
    ...     name: str
    ...     floor: int = 0
    >>> inspect.signature(Room)
    <Signature (name, floor=0)>
    """
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_default(field))
        for name, field in sorted(kind.model_fields.items(), key=lambda item: item[0] == "epsilon")
    ]
    if not kind.takes_positions:
        return inspect.Signature(named)
    first = [item for item in named if item.name not in kind.named_only]
    later = [item for item in named if item.name in kind.named_only]
    either = [item.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for item in first]
    try:
        return inspect.Signature([*either, *later])
    except ValueError:  # one without a default after one with it has no place, only a name
        return inspect.Signature(named)


def _default(field: Any) -> Any:
    return inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)


def with_parameters(docstring: str, kind: type[BaseModel]) -> str:
    """Return a docstring with a Parameters section that is made of the fields' descriptions."""
    described = {name: field for name, field in kind.model_fields.items() if field.description is not None}
    if not described or "\nParameters\n" in docstring:
        return docstring
    # Questions inherit epsilon, and columns how they are read, so these would be first; last reads better.
    order = sorted(described, key=lambda name: name in ("epsilon", "read"))
    lines = ["Parameters", "----------"]
    for name in order:
        field = described[name]
        lines += [name if field.is_required() else f"{name} : optional"]
        lines += textwrap.wrap(str(field.description), 100, initial_indent="    ", subsequent_indent="    ")
    section = "\n".join(lines)
    for heading in ("Notes", "Examples"):
        before, found, after = docstring.partition(f"\n\n{heading}\n{'-' * len(heading)}\n")
        if found:
            return f"{before}\n\n{section}{found}{after}"
    return f"{docstring}\n\n{section}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class Value(Frozen):
    """A frozen value that is read from plain data by ``read``; columns have a field of that name instead."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Read the value from plain data; unknown fields are refused."""
        return cls.from_dict(data)
