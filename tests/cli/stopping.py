"""`python -m tests.cli.stopping FILE WORD…`: the command line in a process that stops itself once it has written FILE."""

import os
import signal
import sys
from pathlib import Path

from pellucid.__main__ import main


def stop_after_writing(file):
    """Have this process stop (SIGSTOP) right after a file of this name was put in its place."""
    replace = Path.replace

    def replace_and_stop(self, target):
        replaced = replace(self, target)
        if str(target).endswith(file):
            os.kill(os.getpid(), signal.SIGSTOP)
        return replaced

    Path.replace = replace_and_stop


if __name__ == "__main__":
    stop_after_writing(sys.argv.pop(1))
    main()
