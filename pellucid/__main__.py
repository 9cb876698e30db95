"""`python -m pellucid` and the `pellucid` command."""

import os
import sys


def main() -> None:
    """Run the command line. If even its modules do not fit the memory, say so in one sentence and end with status 2."""
    _open_standard_streams()
    os.environ["PYTHONSAFEPATH"] = "1"  # for every Python program that this process or a library starts
    try:
        from pellucid.base.memory import collect_late

        collect_late()
        from pellucid.cli import main as run
    except (ImportError, MemoryError, OSError) as error:
        if not _lacks_memory(error):
            raise
        print("There is not enough memory to start; free some, or raise the process's limit.", file=sys.stderr)
        sys.exit(2)
    run()


def _open_standard_streams() -> None:
    """Open closed standard streams on the null device, before a file of ours gets their number and is overwritten.

    Then standard input is empty, output to standard error is dropped, and output to standard output fails.
    """
    for stream_number, name, mode, flags in (
        (0, "stdin", "r", os.O_RDONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            if descriptor != stream_number:
                os.dup2(descriptor, stream_number)
                os.close(descriptor)
            setattr(sys, name, open(stream_number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _leave_current_folder() -> None:
    """Take the current folder, which `python -m` puts first, off the path: a stranger's data may lie there.

    What Python has imported by then, and a current folder that Pellucid itself lies in, stay as they are.
    """
    # Not by pathlib, which would be imported from that very folder.
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()] != [home]:  # noqa: PTH109
        del sys.path[0]


def _lacks_memory(error: BaseException) -> bool:
    """Whether memory is short; uses no module of ours, since none could be loaded."""
    return isinstance(error, MemoryError) or "failed to map segment" in str(error) or "llocate memory" in str(error)


if __name__ == "__main__":
    _leave_current_folder()
    main()
