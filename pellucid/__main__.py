"""`python -m pellucid` and the `pellucid` command."""

import atexit
import gc
import os
import sys


def main() -> None:
    """Run the command line. If even its modules do not fit the memory, say so in one sentence and end with status 2."""
    _open_standard_streams()
    os.environ["PYTHONSAFEPATH"] = "1"  # for every Python program that this process or a library starts
    collect_late()
    try:
        from pellucid.cli import main as run
    except (ImportError, MemoryError, OSError) as error:
        if not _lacks_memory(error):
            raise
        print("There is not enough memory to start; free some, or raise the process's limit.", file=sys.stderr)
        sys.exit(2)
    run()


# What imports make stays to the end: 720,000 objects before the first text. Python's collector would look at them again
# and again, which takes one of the six seconds of an explanation.

OBJECTS_AT_START = 900_000
COUNTS_AT_END = "triton"  # prints on standard error what was not freed one by one


def collect_late() -> None:
    """Let this process's first garbage collection come after its imports; later ones come as often as ever, and leave
    out what was there then, as does the end, where the system takes all memory.
    """
    usual = gc.get_threshold()

    def begin_as_usual(phase: str = "stop", _: object = None) -> None:
        if phase == "stop" and begin_as_usual in gc.callbacks:
            gc.callbacks.remove(begin_as_usual)
            gc.set_threshold(*usual)
            gc.freeze()

    def end() -> None:
        begin_as_usual()
        if COUNTS_AT_END in sys.modules:
            gc.unfreeze()
            gc.disable()  # the collection before modules are emptied, which finds nothing

    gc.set_threshold(OBJECTS_AT_START)
    gc.callbacks.append(begin_as_usual)
    atexit.register(end)


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
