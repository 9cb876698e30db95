"""A sheet on which people judge texts before and after an attack, without knowing which is which; and what they judged.

The sheet has two texts a row, in an order drawn by seed. The key, another file, knows which of them was edited, and by
which attack.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from io import StringIO
from pathlib import Path

import numpy as np

from pellucid.attacks.attack_case import Attempt
from pellucid.attacks.record import Attempts
from pellucid.base.checks import quoted, whole
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import check_new, possible_path, whole_file, write_text
from pellucid.data.exports.tables import uncomputed
from pellucid.results.bootstrap import share, t_interval
from pellucid.results.table import Interval
from pellucid.run.blank import HIGHEST_SEED

COLUMNS = ("row", "text_a", "text_b", "label_a", "label_b", "same_meaning")
LEAST_MEANING, MOST_MEANING = 1, 5
SEPARATOR = " ‖ "  # between the texts of a pair


@dataclass(frozen=True)
class KeyRow:
    """What a row of the sheet does not show. edited: "a" or "b". label: of the text before, "" where it has none;
    before, after: the model's answers. id: of the text. texts: a digest of the letters of both texts, "" in keys of
    earlier versions.
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
    """One row as one person judged it: the labels of the text before and after, and 1 to 5 for how much they say the
    same.
    """

    before: str
    after: str
    same_meaning: int | None


@dataclass(frozen=True)
class SheetScores:
    """What people said of the texts that fooled the model, of one attack.

    n_texts: rows of the sheet. n_judged: judgements of both labels. same_label: the share of these in which a person
    gave both texts the same label: there the model, and not the text, has changed its mind; the mean over texts, with a
    95 % Wilson interval over texts. same_meaning: the mean of 1 (says something else) to 5 (says the same), with a
    t-interval over texts; nan where nobody judged it. agreement: the share of pairs of people who gave the edited text
    the same label, nan where no two people judged a text.
    """

    attack: str
    n_texts: int
    n_judged: int
    same_label: Interval
    same_meaning: Interval
    agreement: float


def sheet_rows(attempts: Attempts, seed: int) -> tuple[list[dict[str, str]], list[KeyRow]]:
    """(rows of the sheet, rows of the key) for every text that fooled the model; order and sides depend on texts and
    seed alone.

    Of a text that several attacks edited one of them is drawn: a text that stands in several rows would be known as the
    original.
    """
    drawn: dict[tuple[str, ...], Attempt] = {}
    for success in sorted(attempts.successes(), key=lambda success: _digest(success, seed)):
        drawn.setdefault(success.example.segments, success)
    fooled = list(drawn.values())
    rows, key = [], []
    for position, attempt in enumerate(fooled, 1):
        edited = "ab"[_digest(attempt, seed + 1)[0] % 2]
        texts = {edited: attempt.segments, "ab".replace(edited, ""): attempt.example.segments}
        shown = {f"text_{side}": SEPARATOR.join(texts[side]) for side in "ab"}
        rows.append({"row": str(position), **shown, "label_a": "", "label_b": "", "same_meaning": ""})
        key.append(
            KeyRow(
                position,
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
    """The scores of each attack. sheets: of each person, row -> what was judged; rows that were left blank are
    absent.
    """
    return [
        _scores(attack, [key_row.row for key_row in key if key_row.attack == attack], sheets)
        for attack in dict.fromkeys(key_row.attack for key_row in sorted(key, key=lambda key_row: key_row.attack))
    ]


def _scores(attack: str, rows: Sequence[int], sheets: Sequence[Mapping[int, Judgement]]) -> SheetScores:
    by_row = [[sheet[row] for sheet in sheets if row in sheet] for row in rows]
    labelled = [[judgement for judgement in of_row if judgement.before and judgement.after] for of_row in by_row]
    both = [judgement for of_row in labelled for judgement in of_row]
    meanings = [
        [judgement.same_meaning for judgement in of_row if judgement.same_meaning is not None] for of_row in by_row
    ]
    pairs = [
        earlier.after == later.after
        for of_row in labelled
        for at, earlier in enumerate(of_row)
        for later in of_row[at + 1 :]
    ]
    return SheetScores(
        attack,
        len(rows),
        len(both),
        share(
            sum(
                float(np.mean([judgement.before == judgement.after for judgement in of_row]))
                for of_row in labelled
                if of_row
            ),
            sum(map(bool, labelled)),
        ),
        t_interval([float(np.mean(meaning)) for meaning in meanings if meaning], (LEAST_MEANING, MOST_MEANING)),
        float(np.mean(pairs)) if pairs else float("nan"),
    )


def key_record(key: Sequence[KeyRow]) -> list[dict[str, object]]:
    """The key as JSON."""
    return [asdict(key_row) for key_row in key]


def letters_digest(*texts: str) -> str:
    """A digest of the letters and digits of ASCII, which spreadsheets leave as they are."""
    letters = "|".join("".join(sign for sign in text.lower() if sign.isascii() and sign.isalnum()) for text in texts)
    return blake2b(letters.encode(), digest_size=8).hexdigest()


def _digest(attempt: Attempt, seed: int) -> bytes:
    words = "\n".join([str(seed), attempt.attack, *attempt.example.segments, *attempt.segments])
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()


# The door `write_blind_sheet`: texts before and after an attack for people to judge, and the key to it, as two files.

FORM = "pellucid-blind-sheet-1"


def write_blind_sheet(attempts: Attempts, path: str | Path, key: str | Path, *, seed: int = 0) -> None:
    """Write the texts that fooled the model, before and after, as a sheet on which people judge them without knowing
    which is which.

    Of each row people fill in label_a and label_b, a class each, and same_meaning, from 1 (they say something else) to
    5 (they say the same). A text that begins as a formula does gets an apostrophe in front.

    attempts: from `attack`, of one attack or several.
    path: the sheet, a .csv file. key: a .json file that says which text of a row was edited, and by which attack;
        people who judge must not see it. Files that exist are refused: people may have filled them in.
    seed: a whole number; the order of rows and texts.

    Raises `BadFile` for other endings, a file that exists or cannot be written, `BadInput` where no text fooled the
    model.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> attempts = pellucid.attack(model, [("A good film.", "positive")], "deepwordbug")
    >>> pellucid.write_blind_sheet(attempts, "texts.csv", "hidden.json")
    >>> print(open("texts.csv", encoding="utf-8-sig").readline())
    row,text_a,text_b,label_a,label_b,same_meaning
    """
    path, key = possible_path(path), possible_path(key)
    for file, ending in ((path, ".csv"), (key, ".json")):
        if file.suffix != ending:
            raise BadFile(f"{quoted(str(file))} does not end in {ending}; give such a name.")
    check_new(path, key)
    whole("seed", seed, 0, HIGHEST_SEED)
    if not isinstance(attempts, Attempts):
        raise BadInput(f"attempts is {quoted(type(attempts).__name__)}; give what attack returned.")
    rows, hidden = sheet_rows(attempts, seed)
    if not rows:
        raise BadInput("No text fooled the model, so there is nothing to judge.")
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows({name: uncomputed(value) for name, value in row.items()} for row in rows)
    with whole_file(path) as sheet:
        sheet.write(text.getvalue().encode("utf-8-sig"))  # the mark tells spreadsheets the encoding
    record = {"form": FORM, "labels": _classes(attempts), "rows": key_record(hidden)}
    write_text(key, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _classes(attempts: Attempts) -> list[str]:
    """The classes of which a text has one; none of a model that answers with a value, or gives a text several
    labels.
    """
    of_one = [
        attempt.before for attempt in attempts if attempt.before.probabilities and not attempt.goal.startswith("label(")
    ]
    return list(dict.fromkeys(label for answer in of_one for label in answer.labels))
