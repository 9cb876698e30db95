"""The languages of a translator that knows many."""

from dataclasses import dataclass
from typing import Annotated

import typer


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
