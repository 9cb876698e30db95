"""--method takes one name, --methods several or "all"; each refuses what is the other's."""

from dataclasses import dataclass
from typing import Annotated

import typer

from pellucid.api.inputs.choosing import ALL
from pellucid.cli.options.settings import listed
from pellucid.core.foundation.errors import BadSetting


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
