"""`pellucid demo`: the whole job on our own corpus, from training to the report."""

from pathlib import Path
from typing import Annotated

import typer

from pellucid.api.demo import run_demo


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the models and the report.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The seed of training and of all random draws.")] = 0,
) -> None:
    """Train a self-explaining classifier and its plain twin, explain, judge, and write a report."""
    run_demo(out, seed)
