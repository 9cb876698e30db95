"""Links between the words of a text and its translation, as truth: does an explanation find the word that each word
comes from?

Och and Ney (2003), "A Systematic Comparison of Various Statistical Alignment Models", for the error rate. Words are
what stands between blanks, counted from 0, as in the files of aligners.
"""

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.packages import install_command
from pellucid.base.processes import PROGRAM_ENVIRONMENT, program_path
from pellucid.results.bootstrap import percentile_interval, resampled_means
from pellucid.results.explanation import Explanation
from pellucid.results.interval import Interval
from pellucid.text.units import Units

Links = frozenset[tuple[int, int]]  # (source word, target word)


@dataclass(frozen=True)
class LinkScores:
    """How well the source word with the highest score for each linked target word agrees with the links.

    precision: the share of target words whose best source word is linked to them, with its 95 % bootstrap interval over
    pairs. error_rate: the alignment error rate of these best links, 0 to 1. rank: the mean rank of the best linked
    source word, from 1. diagonal: the precision of the source word at the same relative place. chance: that of a source
    word at random; chance_rank: its mean rank. words: linked target words. pairs: of texts.
    """

    precision: Interval
    error_rate: float
    rank: float
    diagonal: float
    chance: float
    chance_rank: float
    words: int
    pairs: int

    def __str__(self) -> str:
        low, high = self.precision.low, self.precision.high
        interval = "one pair: no interval" if isnan(low) else f"{low:.1%}, {high:.1%}"
        return (
            f"best link right: {self.precision.mean:.1%} [{interval}]; same place: {self.diagonal:.1%}; chance: "
            f"{self.chance:.1%}\nalignment error rate: {self.error_rate:.3f}; mean rank of a right word: "
            f"{self.rank:.2f}, by chance {self.chance_rank:.2f}\n{self.words:,} linked words of {self.pairs:,} pairs"
        )


def link_scores_of(
    scores: Sequence[np.ndarray], links: Sequence[Links], *, resamples: int = 1000, seed: int = 0
) -> LinkScores:
    """scores: for each pair [target word, source word]; links: those of each pair. Raises `BadInput` where no word is
    linked.
    """
    rows = link_counts(scores, links)
    if not rows[:, 0].sum():
        raise BadInput(
            "No target word has a link: the examples or the file have none; give links such as 0-0 1-2, source word "
            "and target word from 0."
        )
    words, right, rank, diagonal, chance, chance_rank, n_links = rows.sum(0)
    means = resampled_means(rows[:, :2], resamples, seed)
    drawn = np.divide(means[:, 1], means[:, 0], out=np.full(len(means), np.nan), where=means[:, 0] > 0)
    return LinkScores(
        percentile_interval(float(right / words), drawn[~np.isnan(drawn)], len(rows)),
        float(1 - 2 * right / (words + n_links)),
        float(rank / words),
        float(diagonal / words),
        float(chance / words),
        float(chance_rank / words),
        int(words),
        len(rows),
    )


def link_counts(scores: Sequence[np.ndarray], links: Sequence[Links]) -> np.ndarray:
    """[pair 7]: linked target words; how many best links are right; the sum of ranks; what the same place gets; what
    chance gets, and its ranks; all links.

    scores, links: as in `link_scores_of`.
    """
    return np.array([_counts(of_pair, link) for of_pair, link in zip(scores, links, strict=True)])


def _counts(scores: np.ndarray, links: Links) -> list[float]:
    """Linked target words; how many best links are right; ranks; the same of the diagonal and of chance; and all
    links.
    """
    n_target, n_source = scores.shape
    counts = np.zeros(6)
    for word in range(n_target):
        linked = [source for source, target in links if target == word]
        if not linked:
            continue
        best = int(scores[word].argmax())
        same_place = round(word * (n_source - 1) / max(1, n_target - 1))
        counts += [
            1,
            best in linked,
            min(_rank(scores[word], source) for source in linked),
            same_place in linked,
            len(linked) / n_source,
            (n_source + 1) / (len(linked) + 1),
        ]
    return [*counts, len(links)]


def _rank(scores: np.ndarray, source: int) -> float:
    """The rank of a source word from 1; equal scores share the mean of their ranks."""
    above, equal = (scores > scores[source]).sum(), (scores == scores[source]).sum()
    return float(above + (equal + 1) / 2)


def parsed_links(text: str, n_source: int, n_target: int, where: str) -> Links:
    """The links of a line such as "0-0 1-2"; raises `BadInput`, which names where, for anything else and for words that
    are not there.
    """
    links = set()
    for part in text.split():
        source, sign, target = part.partition("-")
        if not (sign and source.isdecimal() and target.isdecimal()):
            raise BadInput(f"{where}: {quoted(part)} is no link; give source word and target word, such as 0-2.")
        if int(source) >= n_source or int(target) >= n_target:
            raise BadInput(
                f"{where}: the link {quoted(part)} names a word that is not there; the source has {n_source} words and "
                f"the target {n_target}, counted from 0."
            )
        links.add((int(source), int(target)))
    return frozenset(links)


# An explanation of written words as a table of the words that links count: what stands between blanks.


def linked_words(explanation: Explanation) -> np.ndarray:
    """[target word, source word]: scores of units inside a source word added up, those of a target word's rows
    averaged.

    Raises `BadInput` for an explanation without a row for each written word.
    """
    if [kind for kind, _ in explanation.rows] != ["word"] or len(explanation.example.segments) != 2:
        raise BadInput(
            f"The explanation of {quoted(explanation.example.id)} has no row for each written word; explain a "
            f"translator's words."
        )
    source, target = explanation.example.segments
    words = explanation.words()
    assert isinstance(words.units, Units)
    columns = _at_words(words.scores, words.units, source)
    places = _places_of_rows(explanation, target)
    counts = np.bincount(places, minlength=len(target.split()))
    table = np.zeros((len(counts), columns.shape[1]))
    np.add.at(table, places, columns)
    return table / np.maximum(counts, 1)[:, None]


def _at_words(scores: np.ndarray, units: Units, source: str) -> np.ndarray:
    """[row, source word]"""
    ends = [match.end() for match in re.finditer(r"\S+", source)]
    table = np.zeros((len(scores), len(ends)))
    for unit, (segment, start) in enumerate(zip(units.segment, units.start, strict=True)):
        if segment == 0:
            table[:, np.searchsorted(ends, start, side="right").clip(max=len(ends) - 1)] += scores[:, unit]
    return table


def _places_of_rows(explanation: Explanation, target: str) -> list[int]:
    """The number of the target word that each row's written word stands in."""
    ends = [match.end() for match in re.finditer(r"\S+", target)]
    places, cursor = [], 0
    for label in explanation.rows[0][1]:
        word = label.partition(" ")[2]  # a row is called by its number and its word
        cursor = target.index(word, cursor)
        places.append(int(np.searchsorted(ends, cursor, side="right")))
        cursor += len(word)
    return places


# Silver links of words by `eflomal`, a program of the user's: run as a program, never imported.
#
# Östling and Tiedemann (2016), "Efficient Word Alignment with Markov Chain Monte Carlo". It aligns in both
# directions; what both have found, their intersection, are the links: fewer than either has, and the most precise
# choice (Och and Ney 2003, section 3).

SHOWN = 200  # characters of what a failed program wrote


def aligned(pairs: Sequence[tuple[str, str]], program: str, seconds: float) -> list[str]:
    """For each pair its links, such as "0-0 1-2": source word and target word, counted from 0 between blanks.

    program: `eflomal-align`, by its name or path. seconds: after so many it is ended. Its draws have no seed, so a few
    links differ from run to run. Raises `BadFile` where the program is missing, fails, takes longer or writes something
    else.
    """
    path = program_path(program)
    if path is None:
        raise BadFile(
            f"No program {quoted(program)} was found; install eflomal ({install_command('eflomal')}) and give the "
            f"path of its eflomal-align."
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
        _intersection(forward, reverse, pair, f"{program}, pair {position}")
        for position, (forward, reverse, pair) in enumerate(zip(*both, texts, strict=True), 1)
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
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # on Windows, where it has no group
        process.kill()
    process.wait()
    if process.stderr is not None:
        process.stderr.close()


def _lines(path: Path, count: int, program: str) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if len(lines) != count:
        raise BadFile(f"{program} wrote {len(lines):,} lines of links for {count:,} pairs; is it eflomal-align?")
    return lines


def _intersection(forward: str, reverse: str, pair: Sequence[str], where: str) -> str:
    """The links that both directions have, by target word."""
    n_source, n_target = (len(text.split()) for text in pair)
    try:
        common = parsed_links(forward, n_source, n_target, where) & parsed_links(reverse, n_source, n_target, where)
    except BadInput as error:  # the program's lines are no input of the user's
        raise BadFile(str(error)) from None
    return " ".join(f"{source}-{target}" for source, target in sorted(common, key=lambda link: link[::-1]))
