"""Which checks run beside metrics, and what they read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.options.settings import choices_from, settings_from
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.errors import BadSetting


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
