"""Runs the command line in this process and returns what a shell would get: status, output and messages."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from unittest.mock import patch

from pellucid.cli import main


def run(words: Sequence[str], stdin: str = "") -> tuple[int, str, str]:
    """(exit status, standard output, standard error) of `pellucid WORDS`."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    status = 0
    patches = (patch.object(sys, "argv", ["pellucid", *words]), patch.object(sys, "stdin", StringIO(stdin)))
    with patches[0], patches[1], redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
    return status, *(stream.buffer.getvalue().decode("utf-8") for stream in (out, err))  # type: ignore[attr-defined]
