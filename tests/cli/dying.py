"""A process that is killed while it writes a file, or gets a signal once it has written one."""

import os
import signal
from itertools import count
from pathlib import Path


def die_writing(number):
    """Have this process killed (SIGKILL) when its file of this number, from 0, is written and not yet put in its
    place.
    """
    replace, numbers = Path.replace, count()

    def replace_or_die(self, target):
        if next(numbers) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(self, target)

    Path.replace = replace_or_die


def signal_after_writing(file, number):
    """Have this process get a signal right after a file of this name was put in its place; a fork server's children may
    ignore SIGINT.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    replace = Path.replace

    def replace_and_signal(self, target):
        replaced = replace(self, target)
        if str(target).endswith(file):
            os.kill(os.getpid(), number)
        return replaced

    Path.replace = replace_and_signal
