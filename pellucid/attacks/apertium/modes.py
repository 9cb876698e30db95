"""Apertium's modes: which programs, with which files, translate from one language to another. No shell reads them."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from pellucid.base.checks import known, listed, quoted
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors
from pellucid.base.processes import program_path

MODES = Path("/usr/share/apertium/modes")
# Pivot language -> the mode there, the mode back, and Debian's package that has both.
PIVOTS = {
    "spanish": ("eng-spa", "spa-eng", "apertium-eng-spa"),
    "catalan": ("eng-cat", "cat-eng", "apertium-eng-cat"),
    "galician": ("en-gl", "gl-en", "apertium-en-gl"),
}
PROGRAMS = frozenset(
    """
    lt-proc lrx-proc lsx-proc cg-proc apertium-tagger apertium-pretransfer apertium-posttransfer apertium-transfer
    apertium-interchunk apertium-postchunk apertium-anaphora
    """.split()
)
UNMARKED = "-n"  # words that it does not know come back as they are, without a mark
LARGEST_MODE = 1 << 16  # bytes
TAGGER = "apertium-tagger"


def installed_pivots(modes: Path = MODES) -> list[str]:
    """The pivot languages whose package is installed."""
    return [name for name, (there, back, _) in PIVOTS.items() if _is_there(there, modes) and _is_there(back, modes)]


def translation_stages(name: str, package: str, modes: Path = MODES) -> list[list[str]]:
    """The stages of a mode, each a program with its arguments, that flush at null.

    Raises `BadFile` where the mode is not installed, with the package that has it, or names another program than
    Apertium's.
    """
    if not _is_there(name, modes):
        others = listed(installed_pivots(modes)) or "none"
        raise BadFile(
            f"There is no Apertium for {name} in {modes}; install Debian's package {package}, or give another pivot "
            f"(installed: {others})."
        )
    path = modes / f"{name}.mode"
    with disk_errors("read", path):
        if path.stat().st_size > LARGEST_MODE:
            raise BadFile(f"{path} is too large for a mode of Apertium.")
        content = path.read_bytes().decode(errors="replace")
    try:
        return [_stage(part, path) for part in _split(shlex.split(content))]
    except ValueError:
        raise BadFile(f"{path} is no mode of Apertium; install Debian's package {package} again.") from None


def tagging_stages(modes: Path = MODES) -> list[list[str]]:
    """The stages that give the parts of speech of English words: those of the first installed mode up to its tagger.

    Raises `BadFile` where none is installed.
    """
    names = [(there, package) for there, _, package in PIVOTS.values()]
    there, package = next((pair for pair in names if _is_there(pair[0], modes)), names[0])
    stages = translation_stages(there, package, modes)
    programs = [Path(stage[0]).name for stage in stages]
    if TAGGER not in programs:
        raise BadFile(f"Mode {there} in {modes} has no {TAGGER}; install Debian's package {package} again.")
    last = programs.index(TAGGER)
    program, *arguments = stages[last]
    return [*stages[:last], [program, "-p", *arguments]]  # -p: with the word as it stands in the text


def pivot_modes(pivot: str) -> tuple[str, str, str]:
    """The modes there and back, and the package; raises `UnknownName` for a language that is no pivot."""
    known("pivot", pivot, PIVOTS)
    return PIVOTS[pivot]


def _is_there(name: str, modes: Path) -> bool:
    return (modes / f"{name}.mode").is_file()


def _split(words: Sequence[str]) -> list[list[str]]:
    """The words between the pipes."""
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    return stages


def _stage(words: list[str], path: Path) -> list[str]:
    """One stage as it is started: the program's path, flushing at null, with the mode's arguments."""
    if not words or words[0] not in PROGRAMS:
        raise BadFile(f"{path} starts {quoted(words[0] if words else '')}, which is no program of Apertium's.")
    program = program_path(words[0])
    if program is None:
        raise BadFile(
            f"{path} needs the program {words[0]}, which is not installed; install Debian's package apertium."
        )
    arguments = [UNMARKED if word == "$1" else word for word in words[1:] if word != "$2"]
    return [program, "-z", *arguments]


# Text in Apertium's stream format: its own signs are escaped, and what it would lose passes through as a superblank.
#
# A superblank, "[...]", is carried along and not translated. Characters of control stand in one, and "~", which the
# last stage would take for its own. Null ends a text there, so it becomes a blank.

OWN_SIGNS = re.compile(r"[\\^$\[\]{}<>@/]")
CARRIED = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f~]+")
ESCAPED = re.compile(r"\\(.)|[\[\]]", re.DOTALL)
SENTENCE_END = re.compile(r"[.!?;:…]\s*\Z")


def escaped(text: str) -> str:
    """A text as Apertium reads it."""
    return CARRIED.sub(r"[\g<0>]", OWN_SIGNS.sub(r"\\\g<0>", text.replace("\0", " ")))


def unescaped(stream: str) -> str:
    """The text of a stream: escaped signs as they are, superblanks without their brackets."""
    return ESCAPED.sub(lambda match: match[1] or "", stream)


def closed(text: str) -> str:
    """A text that ends as sentences do, since the tagger reads sentences; `opened` takes the added full stop away."""
    return text if SENTENCE_END.search(text) else text + "."


def opened(translation: str, text: str) -> str:
    """A translation of the closed text, without the full stop that was added."""
    return translation if SENTENCE_END.search(text) else re.sub(r"\s*\.\s*\Z", "", translation)
