"""`python -m pellucid` and the `pellucid` command."""

import os
import sys


def main() -> None:
    """Run the command line; where not even its parts can be loaded, say so in one sentence and end with status 2."""
    _open_standard_streams()
    try:
        from pellucid.cli.app import main as run
    except (ImportError, MemoryError, OSError) as error:
        if not _lacks_memory(error):
            raise
        print(
            "There is not enough memory to start; free some, or raise the process's limit.", file=sys.stderr
        )
        sys.exit(2)
    run()


def _open_standard_streams() -> None:
    """Give closed streams an end, before a file of ours takes their number and is written over.

    Nothing comes from standard input, what goes to standard error is lost, and what goes to standard output fails.
    """
    for number, name, mode, flags in (
        (0, "stdin", "r", os.O_RDONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _lacks_memory(error: BaseException) -> bool:
    """Said without any part of ours, none of which could be loaded."""
    return (
        isinstance(error, MemoryError)
        or "failed to map segment" in str(error)
        or "llocate memory" in str(error)
    )


if __name__ == "__main__":
    main()
