"""Options that several commands share are written once, as a record: a command takes the record, the user sees its options."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from pellucid.base.catalogue import Choice
from pellucid.base.errors import BadSetting
from pellucid.base.json_text import parsed
from pellucid.explaining.inputs.explained_target import ALL


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


# What several commands read from their options: settings written as name=value, lists with commas.


EXAMPLES = {
    "--penalty": "entropy=0.1",
    "--objective": "read_alone=1",
    "--pooler-set": "max_width=4",
    "--encoder-set": "width=128",
    "--network-set": "layers=4",
    "--read": "text=title",
    "--recipe": "sharp_from=0.3",
}  # of a pair, for options whose settings have other names than those of methods


def settings_from(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Settings from name=value pairs; a value is read as JSON if possible (numbers, true, null), else as text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadSetting(
                f"{option} {pair!r} is not name=value; write for example {option} {EXAMPLES.get(option, 'n_steps=64')}."
            )
        try:
            settings[name.strip()] = parsed(value)
        except ValueError:
            settings[name.strip()] = value
    return settings


def settings_by_name(pairs: Sequence[str], option: str) -> dict[str, dict[str, Any]]:
    """Settings of several named things from owner.name=value pairs, by owner."""
    settings: dict[str, dict[str, Any]] = {}
    for written, value in settings_from(pairs, option).items():
        owner, dot, name = written.partition(".")
        if not dot or not owner or not name:
            raise BadSetting(
                f"{option} {written!r} does not say of what it is a setting; write OWNER.NAME=VALUE, such as imitation.model=runs/base."
            )
        settings.setdefault(owner, {})[name] = value
    return settings


def listed(text: str | None) -> list[str] | None:
    """Names separated by commas; None stays None."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise BadSetting(
            "A list of names is empty; write names with commas between them, or leave the option away."
        )
    return names


def choices_from(
    methods: str, settings: Mapping[str, Any], option: str = "--set", kind: str = "method"
) -> list[Choice]:
    """Methods from names with commas, which may include "all", with their settings; of several methods: method.setting."""
    names = listed(methods) or []
    settings_of: dict[str, dict[str, Any]] = {name: {} for name in names}
    for written, value in settings.items():
        method, dot, setting = written.partition(".")
        if not dot and (len(names) > 1 or names == [ALL]):
            raise BadSetting(
                f"{option} {written} could be of several {kind}s; say of which: {option} {kind.upper()}.{written}=…"
            )
        method, setting = (method, setting) if dot else (names[0], written)
        if method not in settings_of and ALL not in settings_of:
            raise BadSetting(f"{option} {written}: {method} is not among the {kind}s to run ({methods}).")
        settings_of.setdefault(method, {})[setting] = value
    return [(name, own) if own else name for name, own in settings_of.items()]
