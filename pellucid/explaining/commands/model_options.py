"""What commands say of a model besides its folder or name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pellucid.base.catalogue import Choice
from pellucid.base.errors import BadSetting
from pellucid.explaining.commands.option_records import choices_from, listed, settings_from
from pellucid.explaining.commands.safe_text import say
from pellucid.explaining.inputs.data_source import DataSource
from pellucid.explaining.inputs.explained_target import ALL
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.text.trained_texts import seen_in_training


@dataclass(frozen=True)
class ModelOptions:
    """What the model is loaded with."""

    language_head: Annotated[
        str | None,
        typer.Option(
            help="What reads hidden states back as words, for decoded_saliency: the folder or name of the checkpoint that the "
            "model was fine-tuned from, or a lens folder."
        ),
    ] = None
    route: Annotated[
        str | None,
        typer.Option(
            help="How passes are computed: a name that methods --routes lists, or auto for the fastest by trial; default: "
            "what PELLUCID_ROUTE says, else eager."
        ),
    ] = None


# --method takes one name, --methods several or "all"; each refuses what is the other's.


@dataclass(frozen=True)
class MethodOptions:
    """Which attribution methods run."""

    method: Annotated[
        str | None,
        typer.Option(
            help="One method; `pellucid methods` lists them. Default of explain: the model's own, if it explains itself, "
            "else integrated_gradients."
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


# Of a file that a model was trained on, the texts that training has not seen: `compare` and `errors`
# judge these.


def held_out(
    model: Model, examples: Sequence[Example], source: DataSource
) -> tuple[list[Example], list[Example]]:
    """(texts to judge, texts left out): of one file whose texts were partly used in training, the others are judged.

    Of a file that training used as a whole, and of a part that the user named, all texts are judged; the result has a caveat.
    """
    seen = seen_in_training(model, examples)
    if not source.is_one_file or all(seen) or not any(seen):
        return list(examples), []
    rest = [example for example, known in zip(examples, seen, strict=True) if not known]
    left_out = [example for example, known in zip(examples, seen, strict=True) if known]
    say(
        f"The model was made with {len(left_out):,} of the {len(examples):,} texts of {source.data} (train and dev); only the "
        f"{len(rest):,} others are judged.",
        aside=True,
    )
    return rest, left_out


# Which checks run beside metrics, and what they read.


@dataclass(frozen=True)
class CheckOptions:
    """The checks of a comparison."""

    checks: Annotated[
        str | None,
        typer.Option(
            help="Checks, with commas; `pellucid checks` lists them. all: every one that is not long and has what it needs."
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
        typer.Option(
            help="Data to train on, for checks that train models by the recipe in the model's folder."
        ),
    ] = None
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            help="Explanations of another data set by a model of its own: what `pellucid explain --save` wrote, or a comparison's folder. "
            "Repeat it for more."
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
        return choices_from(
            self.checks, settings_from(self.check_set or [], "--check-set"), "--check-set", "check"
        )
