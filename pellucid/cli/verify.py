"""`pellucid verify FOLDER`: is a folder as the command left it that made it?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options.safe_text import say

DAMAGED = 1  # the exit status where a file is missing or changed


def verify(
    folder: Annotated[
        Path, typer.Argument(help="What compare, attack, train or another command wrote with --out.")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Say which files of a folder are missing, changed or foreign, by its manifest: without the model, and without network.

    Digests find accidents and careless changes, not a forger, who rewrites the manifest too. The exit status is 1 where a file is
    missing or changed. Foreign files are listed and are no failure.
    """
    outcome = pellucid.verify(folder)
    if as_json:
        print(json.dumps(outcome.record()))
    else:
        for line in str(outcome).splitlines():
            say(line)
    if not outcome.is_whole:
        raise typer.Exit(DAMAGED)
