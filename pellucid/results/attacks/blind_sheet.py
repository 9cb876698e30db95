"""A sheet on which people judge texts before and after an attack, without knowing which is which; and what they judged.

The sheet has two texts a row, in an order drawn by seed. The key, another file, knows which of them was edited, and by which attack.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b

import numpy as np

from pellucid.results.attacks.attempt import Attempt
from pellucid.results.attacks.attempts import Attempts
from pellucid.results.means import share, t_interval
from pellucid.results.table import Interval

COLUMNS = ("row", "text_a", "text_b", "label_a", "label_b", "same_meaning")
LEAST_MEANING, MOST_MEANING = 1, 5
SEPARATOR = " ‖ "  # between the texts of a pair


@dataclass(frozen=True)
class KeyRow:
    """What a row of the sheet does not show. edited: "a" or "b". label: of the text before, "" where it has none; before, after: the model's
    answers. id: of the text. texts: a digest of the letters of both texts, "" in keys of earlier versions.
    """

    row: int
    edited: str
    attack: str
    label: str
    before: str
    after: str
    id: str
    texts: str = ""


@dataclass(frozen=True)
class Judgement:
    """One row as one person judged it: the labels of the text before and after, and 1 to 5 for how much they say the same."""

    before: str
    after: str
    same_meaning: int | None


@dataclass(frozen=True)
class SheetScores:
    """What people said of the texts that fooled the model, of one attack.

    n_texts: rows of the sheet. n_judged: judgements of both labels. same_label: the share of these in which a person gave both texts the same label:
    there the model, and not the text, has changed its mind; the mean over texts, with a 95 % Wilson interval over texts. same_meaning: the mean of 1
    (says something else) to 5 (says the same), with a t-interval over texts; nan where nobody judged it. agreement: the share of pairs of people
    who gave the edited text the same label, nan where no two people judged a text.
    """

    attack: str
    n_texts: int
    n_judged: int
    same_label: Interval
    same_meaning: Interval
    agreement: float


def sheet_rows(attempts: Attempts, seed: int) -> tuple[list[dict[str, str]], list[KeyRow]]:
    """(rows of the sheet, rows of the key) for every text that fooled the model; order and sides depend on texts and seed alone.

    Of a text that several attacks edited one of them is drawn: a text that stands in several rows would be known as the original.
    """
    drawn: dict[tuple[str, ...], Attempt] = {}
    for one in sorted(attempts.successes(), key=lambda one: _digest(one, seed)):
        drawn.setdefault(one.example.segments, one)
    fooled = list(drawn.values())
    rows, key = [], []
    for number, attempt in enumerate(fooled, 1):
        edited = "ab"[_digest(attempt, seed + 1)[0] % 2]
        texts = {edited: attempt.segments, "ab".replace(edited, ""): attempt.example.segments}
        shown = {f"text_{side}": SEPARATOR.join(texts[side]) for side in "ab"}
        rows.append({"row": str(number), **shown, "label_a": "", "label_b": "", "same_meaning": ""})
        key.append(
            KeyRow(
                number,
                edited,
                attempt.attack,
                attempt.example.label or "",
                attempt.before.label,
                attempt.after.label,
                attempt.example.id,
                letters_digest(shown["text_a"], shown["text_b"]),
            )
        )
    return rows, key


def sheet_scores(key: Sequence[KeyRow], sheets: Sequence[Mapping[int, Judgement]]) -> list[SheetScores]:
    """The scores of each attack. sheets: of each person, row -> what was judged; rows that were left blank are absent."""
    return [
        _scores(attack, [one.row for one in key if one.attack == attack], sheets)
        for attack in dict.fromkeys(one.attack for one in sorted(key, key=lambda one: one.attack))
    ]


def _scores(attack: str, rows: Sequence[int], sheets: Sequence[Mapping[int, Judgement]]) -> SheetScores:
    by_row = [[sheet[row] for sheet in sheets if row in sheet] for row in rows]
    labelled = [[one for one in of if one.before and one.after] for of in by_row]
    both = [one for of in labelled for one in of]
    meanings = [[one.same_meaning for one in of if one.same_meaning is not None] for of in by_row]
    pairs = [
        one.after == other.after for of in labelled for at, one in enumerate(of) for other in of[at + 1 :]
    ]
    return SheetScores(
        attack,
        len(rows),
        len(both),
        share(
            sum(float(np.mean([one.before == one.after for one in of])) for of in labelled if of),
            sum(map(bool, labelled)),
        ),
        t_interval([float(np.mean(of)) for of in meanings if of]),
        float(np.mean(pairs)) if pairs else float("nan"),
    )


def key_record(key: Sequence[KeyRow]) -> list[dict[str, object]]:
    """The key as JSON."""
    return [asdict(one) for one in key]


def letters_digest(*texts: str) -> str:
    """A digest of the letters and digits of ASCII, which spreadsheets leave as they are."""
    letters = "|".join(
        "".join(sign for sign in text.lower() if sign.isascii() and sign.isalnum()) for text in texts
    )
    return blake2b(letters.encode(), digest_size=8).hexdigest()


def _digest(attempt: Attempt, seed: int) -> bytes:
    words = "\n".join([str(seed), attempt.attack, *attempt.example.segments, *attempt.segments])
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
