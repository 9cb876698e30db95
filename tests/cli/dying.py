"""`python -m tests.cli.dying NUMBER WORD…`: the command line in a process that is killed while it writes its file of this number, from 0."""

import os
import signal
import sys
from itertools import count
from pathlib import Path

from pellucid.__main__ import main


def die_writing(number):
    """Have this process killed (SIGKILL) when this file is written, and not yet put in its place."""
    replace, numbers = Path.replace, count()

    def replace_or_die(self, target):
        if next(numbers) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(self, target)

    Path.replace = replace_or_die


if __name__ == "__main__":
    die_writing(int(sys.argv.pop(1)))
    main()
