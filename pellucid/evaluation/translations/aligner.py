"""Silver links of words by `eflomal`, a program of the user's: run as a program, never imported.

Östling and Tiedemann (2016), "Efficient Word Alignment with Markov Chain Monte Carlo". It aligns in both directions; what both have
found, their intersection, are the links: fewer than either has, and the most precise choice (Och and Ney 2003, section 3).
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from pellucid.core.foundation.errors import BadFile, BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.processes.safe_start import PROGRAM_ENVIRONMENT, program_path
from pellucid.evaluation.translations.links import parsed_links

SHOWN = 200  # characters of what a failed program wrote


def aligned(pairs: Sequence[tuple[str, str]], program: str, seconds: float) -> list[str]:
    """For each pair its links, such as "0-0 1-2": source word and target word, counted from 0 between blanks.

    program: `eflomal-align`, by its name or path. seconds: after so many it is ended. Its draws have no seed, so a few links differ
    from run to run. Raises `BadFile` where the program is missing, fails, takes longer or writes something else.
    """
    path = program_path(program)
    if path is None:
        raise BadFile(
            f"No program {quoted(program)} was found; install eflomal (pip install eflomal) and give the path of its eflomal-align."
        )
    texts = [tuple(" ".join(text.split()) for text in pair) for pair in pairs]
    with TemporaryDirectory() as folder:
        files = {name: Path(folder) / name for name in ("source", "target", "forward", "reverse")}
        for side, name in enumerate(("source", "target")):
            files[name].write_text("".join(f"{pair[side]}\n" for pair in texts), encoding="utf-8")
        options = [f"--{name}={files[name]}" for name in ("source", "target")]
        options += [f"--{name}-links={files[name]}" for name in ("forward", "reverse")]
        _run([path, *options], folder, seconds)
        both = [_lines(files[name], len(texts), program) for name in ("forward", "reverse")]
    return [
        _intersection(one, other, pair, f"{program}, pair {number}")
        for number, (one, other, pair) in enumerate(zip(*both, texts, strict=True), 1)
    ]


def _run(command: list[str], folder: str, seconds: float) -> None:
    """Run a program and its children in a folder, without a shell; all of them end when it does."""
    name = command[0]
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=PROGRAM_ENVIRONMENT,
            start_new_session=True,
        )
    except OSError as error:
        raise BadFile(f"Cannot run {name}: {error.strerror}.") from None
    try:
        messages = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        raise BadFile(f"{name} took longer than {seconds:g} seconds; give it more, or fewer pairs.") from None
    finally:
        _end(process)
    if process.returncode:
        last = messages.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise BadFile(f"{name} failed: {' '.join(last)[:SHOWN] or f'status {process.returncode}'}.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a program and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stderr is not None:
        process.stderr.close()


def _lines(path: Path, count: int, program: str) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if len(lines) != count:
        raise BadFile(
            f"{program} wrote {len(lines):,} lines of links for {count:,} pairs; is it eflomal-align?"
        )
    return lines


def _intersection(one: str, other: str, pair: Sequence[str], where: str) -> str:
    """The links that both directions have, by target word."""
    n_source, n_target = (len(text.split()) for text in pair)
    try:
        common = parsed_links(one, n_source, n_target, where) & parsed_links(other, n_source, n_target, where)
    except BadInput as error:  # the program's lines are no input of the user's
        raise BadFile(str(error)) from None
    return " ".join(f"{source}-{target}" for source, target in sorted(common, key=lambda link: link[::-1]))
