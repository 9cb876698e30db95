"""A configuration's parts that are about text: newer families keep theirs in a configuration of its own."""

import copy
from typing import Any

PARTS = ("text_config", "encoder", "decoder", "text_encoder")


def text_configs(config: Any) -> list[Any]:
    """The configurations inside a configuration that are about text, then itself; innermost first."""
    parts = [getattr(config, name, None) for name in PARTS]
    return [inner for part in parts if hasattr(part, "to_dict") for inner in text_configs(part)] + [config]


def first_named(config: Any, *names: str) -> Any:
    """The first value that is no None, of any of these names, in the configuration or its parts about text."""
    values = (getattr(part, name, None) for part in text_configs(config) for name in names)
    return next((value for value in values if value is not None), None)


def with_value(config: Any, name: str, value: Any) -> Any:
    """A copy of a configuration whose name has another value, also in its parts about text; what came is untouched."""
    changed = copy.copy(config)
    for part in PARTS:
        inner = getattr(config, part, None)
        if hasattr(inner, "to_dict"):
            setattr(changed, part, with_value(inner, name, value))
    setattr(changed, name, value)
    return changed
