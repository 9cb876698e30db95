"""`pellucid blind-sheet SHEET… --key KEY`: what people judged of the texts that fooled a model."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.base.json_text import nan_as_none
from pellucid.base.wording import percent
from pellucid.results.attacks.blind_sheet import SheetScores


def blind_sheet(
    sheets: Annotated[
        list[Path],
        typer.Argument(help="Sheets that `pellucid attack --sheet` wrote, filled in; one a person."),
    ],
    key: Annotated[Path, typer.Option(help="The key that was written beside the sheet (.json).")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score what people judged on the sheets of an attack: do the texts that fooled the model still say the same?"""
    scores = pellucid.read_blind_sheets(sheets, key)
    if as_json:
        print(json.dumps([nan_as_none(asdict(one)) for one in scores]))
        return
    for one in scores:
        print(_line(one))


def _line(scores: SheetScores) -> str:
    if not scores.n_judged:
        return f"{scores.attack}: none of {scores.n_texts:,} texts is judged"
    label, meaning = scores.same_label, scores.same_meaning
    parts = [
        f"{scores.attack}: {scores.n_judged:,} judgements of {scores.n_texts:,} texts; the label stays in {percent(label.mean)} "
        f"[{percent(label.low)}, {percent(label.high)}]"
    ]
    if meaning.mean == meaning.mean:
        parts.append(f"meaning {meaning.mean:.1f} of 5")
    if scores.agreement == scores.agreement:
        parts.append(f"people agree in {percent(scores.agreement)}")
    return "; ".join(parts)
