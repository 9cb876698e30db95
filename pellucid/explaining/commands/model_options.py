"""Options that several commands share, written once as records; and what commands say of a model besides its folder or
name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from pellucid.base.catalogue import ALL, Choice
from pellucid.base.errors import BadSetting
from pellucid.base.json_text import parsed
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from pellucid.explaining.inputs.data_source import DataSource
    from pellucid.run.model import Model
    from pellucid.text.example import Example


@dataclass(frozen=True)
class ModelOptions:
    """What the model is loaded with."""

    language_head: Annotated[
        str | None,
        typer.Option(
            help="What reads hidden states back as words, for decoded_saliency: the folder or name of the checkpoint "
            "that the model was fine-tuned from, or a lens folder."
        ),
    ] = None
    route: Annotated[
        str | None,
        typer.Option(
            help="How passes are computed: a name that methods --routes lists, or auto for the fastest by trial; "
            "default: what PELLUCID_ROUTE says, else eager."
        ),
    ] = None


# --method takes one name, --methods several or "all"; each refuses what is the other's.


@dataclass(frozen=True)
class MethodOptions:
    """Which attribution methods run."""

    method: Annotated[
        str | None,
        typer.Option(
            help="One method; `pellucid methods` lists them. Default of explain: the model's own, if it explains "
            "itself, else integrated_gradients."
        ),
    ] = None
    methods: Annotated[
        str | None,
        typer.Option(help="Several methods, with commas, or all: every usual one that the model supports."),
    ] = None

    def names(self) -> list[str] | None:
        """The methods; None where none was named."""
        if self.method is None:
            return listed(self.methods)
        if self.methods is not None:
            raise BadSetting("Give --method with one name, or --methods with several, not both.")
        names = listed(self.method) or []
        if len(names) > 1 or names == [ALL]:
            raise BadSetting(f"--method takes one name; write --methods {','.join(names)}.")
        return names


# The languages of a translator that knows many.


@dataclass(frozen=True)
class LanguageOptions:
    """Codes of what the translator reads and writes."""

    source_language: Annotated[
        str | None,
        typer.Option(help="Of a translator of many languages: the code of what it reads, such as eng_Latn."),
    ] = None
    target_language: Annotated[
        str | None,
        typer.Option(help="Of a translator of many languages: the code of what it writes, such as deu_Latn."),
    ] = None


# Of a file that a model was trained on, the texts that training has not seen: `compare` and `errors` judge these.


def held_out(
    model: Model, examples: Sequence[Example], source: DataSource | None
) -> tuple[list[Example], list[Example]]:
    """(texts to judge, texts left out): of one file whose texts were partly used in training, the others are judged.

    Of a file that training used as a whole, and of a part that the user named, all texts are judged; the result has a
    caveat. source: None, of texts that were explained before, which are all judged.
    """
    left_out = left_out_of(model, examples, source)
    rest = [example for example, is_out in zip(examples, left_out, strict=True) if not is_out]
    return rest, [example for example, is_out in zip(examples, left_out, strict=True) if is_out]


def left_out_of(model: Model, examples: Sequence[Example], source: DataSource | None) -> list[bool]:
    """[example]: whether it is left out, as `held_out` says."""
    from pellucid.text.example import seen_in_training

    seen = seen_in_training(model, examples)
    if source is None or not source.is_one_file or all(seen) or not any(seen):
        return [False] * len(examples)
    say(
        f"The model was made with {sum(seen):,} of the {len(seen):,} texts of {source.data} (train and dev); "
        f"only the {len(seen) - sum(seen):,} others are judged.",
        aside=True,
    )
    return seen


# Which checks run beside metrics, and what they read.


@dataclass(frozen=True)
class CheckOptions:
    """The checks of a comparison."""

    checks: Annotated[
        str | None,
        typer.Option(
            help="Checks, with commas; `pellucid checks` lists them. all: every one that is not long and has what it "
            "needs."
        ),
    ] = None
    check_set: Annotated[
        list[str] | None,
        typer.Option(help="A setting of a check: check.name=value. May be repeated."),
    ] = None
    twin: Annotated[
        list[str] | None,
        typer.Option(
            help="A twin, another training of the model with another seed, as a folder or name. Repeat it for more."
        ),
    ] = None
    train: Annotated[
        str | None,
        typer.Option(help="Data to train on, for checks that train models by the recipe in the model's folder."),
    ] = None
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            help="Explanations of another data set by a model of its own: what `pellucid explain --save` wrote, or a "
            "comparison's folder. Repeat it for more."
        ),
    ] = None

    def choices(self) -> list[Choice] | None:
        """The checks with their settings; None where none was named."""
        if self.checks is None and self.check_set:
            raise BadSetting(
                "--check-set changes a check that --checks names; name it too: --checks method_agreement --check-set "
                "method_agreement.k=5."
            )
        if self.checks is None:
            return None
        return choices_from(self.checks, settings_from(self.check_set or [], "--check-set"), "--check-set", "check")


# Options that several commands share are written once, as a record: a command takes the record, the user sees its
# options.


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
        by_record = {name: _record(kind, values) for name, kind in records.items()}
        command(**values, **by_record)

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del expanded.__wrapped__  # type: ignore[attr-defined]  # else its signature is read instead
    return expanded


def _parameters_of(record: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(record)
    ]


def _record(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**{field.name: values.pop(field.name) for field in fields(kind)})


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
                f"{option} {written!r} does not say of what it is a setting; write OWNER.NAME=VALUE, such as "
                f"imitation.model=runs/base."
            )
        settings.setdefault(owner, {})[name] = value
    return settings


def listed(text: str | None) -> list[str] | None:
    """Names separated by commas; None stays None."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise BadSetting("A list of names is empty; write names with commas between them, or leave the option away.")
    return names


def choices_from(
    methods: str, settings: Mapping[str, Any], option: str = "--set", kind: str = "method"
) -> list[Choice]:
    """Methods from names with commas, which may include "all", with their settings; of several methods:
    method.setting.
    """
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
    return [(name, changes) if changes else name for name, changes in settings_of.items()]
