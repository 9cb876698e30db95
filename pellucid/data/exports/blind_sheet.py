"""The door `write_blind_sheet`: texts before and after an attack for people to judge, and the key to it, as two files."""

import csv
import json
from io import StringIO
from pathlib import Path

from pellucid.base.checks import whole
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import check_new, possible_path, whole_file, write_text
from pellucid.base.wording import quoted
from pellucid.data.exports.tables import uncomputed
from pellucid.results.attacks.attempts import Attempts
from pellucid.results.attacks.blind_sheet import COLUMNS, key_record, sheet_rows
from pellucid.run.blank import HIGHEST_SEED

FORM = "pellucid-blind-sheet-1"


def write_blind_sheet(attempts: Attempts, path: str | Path, key: str | Path, *, seed: int = 0) -> None:
    """Write the texts that fooled the model, before and after, as a sheet on which people judge them without knowing which is which.

    Of each row people fill in label_a and label_b, a class each, and same_meaning, from 1 (they say something else) to 5 (they say the same).
    A text that begins as a formula does gets an apostrophe in front.

    attempts: from `attack`, of one attack or several.
    path: the sheet, a .csv file. key: a .json file that says which text of a row was edited, and by which attack; people who judge must not see
        it. Files that exist are refused: people may have filled them in.
    seed: a whole number; the order of rows and texts.

    Raises `BadFile` for other endings, a file that exists or cannot be written, `BadInput` where no text fooled the model.

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
    """The classes of which a text has one; none of a model that answers with a value, or gives a text several labels."""
    of_one = [
        one.before for one in attempts if one.before.probabilities and not one.goal.startswith("label(")
    ]
    return list(dict.fromkeys(label for answer in of_one for label in answer.labels))
