"""A process that is killed at a chosen moment: before or after any of its steps and writes."""

import multiprocessing
import os
import signal
from pathlib import Path

PATIENCE = 300  # seconds; a busy machine may need many


class Moments:
    """Counts the moments of a run at which the power may fail, and fails it at one of them."""

    def __init__(self, fatal=-1):
        self.count, self.fatal, self.steps = 0, fatal, 0

    def __enter__(self):
        self.real = os.fsync, Path.replace
        os.fsync, Path.replace = self.around(os.fsync), self.around(Path.replace)
        return self

    def __exit__(self, *_):
        os.fsync, Path.replace = self.real

    def around(self, function):
        def counted(*args):
            self.moment()
            result = function(*args)
            self.moment()
            return result

        return counted

    def moment(self):
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1

    def progress(self, *_):
        self.steps += 1
        self.moment()


def killed(run, *inputs):
    """Call it in a process of its own, which has to be killed."""
    process = multiprocessing.get_context("fork").Process(target=run, args=inputs)
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL


def files_of(folder):
    """Every file below a folder, by its path there, with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
