# SPDX-License-Identifier: Apache-2.0
"""Which detectors a rule allows, and with which values of their parameters.

Written as names, ``["lof"]``, or as names with parameters, ``{"grubbs": {"alpha": [0.01, 0.05]}}``. Of a
parameter that is not listed only the detector's own default is allowed: whoever may choose a threshold freely
reads the values of a group by halving it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StrictBool, StrictStr

from anonymaly.core.value import Number, Ordered

Parameter = StrictBool | Number | StrictStr
Values = Annotated[tuple[Parameter, ...], Field(min_length=1)]
Listed = tuple[tuple[str, tuple[tuple[str, tuple[Parameter, ...]], ...]], ...]


def read_detectors(given: Any) -> Any:
    """Return names, or a mapping of names to parameters, as pairs; pass on what is pairs already.

    Examples
    --------
    >>> read_detectors(["lof"])
    (('lof', ()),)
    >>> read_detectors({"lof": {}, "grubbs": {"alpha": [0.01, 0.05]}})
    (('grubbs', (('alpha', (0.01, 0.05)),)), ('lof', ()))
    """
    if isinstance(given, Mapping):
        # The order in which a mapping was written means nothing.
        return tuple(sorted(((str(name), _parameters(item)) for name, item in given.items()), key=_name))
    if isinstance(given, list | tuple):
        return tuple((item, ()) if isinstance(item, str) else item for item in given)
    return given


def _parameters(given: Any) -> Any:
    if given is None:  # `lof:` in YAML, without anything after it
        return ()
    if not isinstance(given, Mapping):
        raise ValueError('must list the values of parameters, as in {"grubbs": {"alpha": [0.01, 0.05]}}')
    values = (
        (str(name), tuple(item) if isinstance(item, list | tuple) else (item,))
        for name, item in given.items()
    )
    return tuple(sorted(values, key=_name))


def _name(pair: tuple[str, Any]) -> str:
    return pair[0]


def write_detectors(listed: Listed) -> Any:
    """Return pairs as plain data: names alone where no parameter is listed, as they always were.

    Examples
    --------
    >>> write_detectors((("lof", ()),))
    ['lof']
    """
    if not any(parameters for _, parameters in listed):
        return [name for name, _ in listed]
    return {name: {key: list(values) for key, values in parameters} for name, parameters in listed}


def _each_once(listed: Listed) -> Listed:
    if len({name for name, _ in listed}) < len(listed):
        raise ValueError("names a detector twice")
    return listed


Detectors = Annotated[
    tuple[tuple[StrictStr, tuple[tuple[StrictStr, Values], ...]], ...],
    Field(min_length=1),
    BeforeValidator(read_detectors),
    Ordered,
    AfterValidator(_each_once),
    PlainSerializer(write_detectors, return_type=Any),
]
