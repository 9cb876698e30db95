"""Options that several commands share are written once, as a record: a command takes the record, the user sees its options."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_option_records(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of its parameters that are records, which it still gets as records."""
    hints = get_type_hints(command, include_extras=True)
    records = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in records:
            parameters += _parameters_of(records[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name]))

    @wraps(command)
    def expanded(**values: Any) -> None:
        own = {name: _record(kind, values) for name, kind in records.items()}
        command(**values, **own)

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {one.name: one.annotation for one in parameters}
    del expanded.__wrapped__  # type: ignore[attr-defined]  # else its signature is read instead
    return expanded


def _parameters_of(record: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]
        )
        for one in fields(record)
    ]


def _record(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**{one.name: values.pop(one.name) for one in fields(kind)})
