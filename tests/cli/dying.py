"""A process that is killed while it writes a file."""

import os
import signal
from itertools import count
from pathlib import Path


def die_writing(number):
    """Have this process killed (SIGKILL) when its file of this number, from 0, is written and not yet put in its place."""
    replace, numbers = Path.replace, count()

    def replace_or_die(self, target):
        if next(numbers) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(self, target)

    Path.replace = replace_or_die
