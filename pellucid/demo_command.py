"""`pellucid demo`: the whole job on our own corpus. Its help imports nothing that computes."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the models and the report.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The seed of training and of all random draws.")] = 0,
) -> None:
    """Explain a small model at once; then train a self-explaining classifier and its plain twin, judge, and report."""
    from pellucid.demo import run_demo

    run_demo(out, seed)
