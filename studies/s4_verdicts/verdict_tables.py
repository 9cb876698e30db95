"""Verdict against truth as Markdown: a row a model, every miss in words, and the same text by text."""

from collections.abc import Mapping

from pellucid.attention.lines import (
    FEWEST_TEXTS,
    OTHER_ANSWER,
    POINTS,
    SAME_ANSWER,
)
from studies.s4_verdicts import judged_weights
from studies.s4_verdicts.verdicts import SHOWS
from studies.shared.attention_models import DECEPTIVE, PAPER_NAMES
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers

OF_TEXTS = (
    "Texts of all seeds in which some single word, left out, moves the answer, and not all words do so alike. Both can "
    "be right where they\ndisagree: a model can learn one class by its word and take all else for the other, whose "
    "word then decides nothing. Edits do not show\nthat, since each puts the other class's word in the place; nor that "
    "a decoy counts, of whichever class it is."
)
NAMES = {**PAPER_NAMES, DECEPTIVE: "trained to deceive"}
LINES = (
    "The verdict does not know the reason. “May”: the median permutation of the weights moves the answer by "
    f"{OTHER_ANSWER:.2f} or more, and the\nheaviest word decides more often than a random one by {POINTS:.2f} or more. "
    f"“May not”: it decides less often than that, or the answer\nmoves by less than {SAME_ANSWER:.2f}; undecided where "
    f"the words decide and the answer does not move. By 95 % intervals, on {FEWEST_TEXTS} texts\nor more. Truth: "
    f"average precision of the reason's words, 0 at chance and 1 where they always come first; shown from {SHOWS:g} "
    f"on, with its\ninterval over texts."
)


def verdicts_text(verdicts: Numbers) -> str:
    """The sentence that sums up, every miss, and both tables."""
    rows = verdicts["models"]
    if not rows:
        return "No model has learnt its reason, so no verdict can be right or wrong.\n"
    return (
        f"{counts_in_words(verdicts)}\n\n{models_table(verdicts)}\n\n{LINES}\n\n### Text by "
        f"text\n\n{texts_table(verdicts)}\n"
    )


def counts_in_words(verdicts: Numbers) -> str:
    """How many verdicts are right, every miss, and whether a model that is trained to deceive ever passed."""
    rows, counts = verdicts["models"], verdicts["outcomes"]
    decided = counts["right"] + counts["missed"]
    listed = "; ".join(
        f"{row['reason']}, {NAMES[row['variant']]}, seed {row['seed']}: {row['answer']}, and the weights "
        f"{'show it' if row['truth'] == 'shows' else 'do not show it'} (because {row['because']})"
        for row in rows
        if row["outcome"] == "missed"
    )
    deceiving = [row for row in rows if row["variant"] == DECEPTIVE]
    passed = sum(row["answer"] == "may" for row in deceiving)
    never = f" Of {len(deceiving)} models that are trained to deceive, {passed} may be read." if deceiving else ""
    missed = f"Missed: {listed}." if listed else "None is missed."
    return (
        f"Of {len(rows)} models that have learnt their reason, {counts['undecided']} are undecided, and of "
        f"{counts['truth unclear']} the truth is unclear. Of the other {decided},\nthe verdict is right on "
        f"{counts['right']}. {missed}{never}"
    )


def models_table(verdicts: Numbers) -> str:
    """Each model's verdict beside the truth."""
    rows = [
        [
            row["reason"],
            NAMES[row["variant"]],
            row["seed"],
            row["answer"],
            f"{row['truth']}, {_interval(row['over_chance'])}",
            f"**{row['outcome']}**" if row["outcome"] == "missed" else row["outcome"],
            _number(row["evidence"][judged_weights.MOVES]),
            _number(row["evidence"][judged_weights.POINTS]),
        ]
        for row in verdicts["models"]
    ]
    head = [
        "reason",
        "model",
        "seed",
        "may it be read?",
        "shows the reason?",
        "",
        "median change",
        "heaviest decides",
    ]
    return markdown_table(head, rows)


def texts_table(verdicts: Numbers) -> str:
    """How often the test and the truth agree on the heaviest word of a text, class by class."""
    rows = []
    for name, by_class in verdicts["texts"].items():
        reason, _, variant = name.rpartition(" ")
        for label, one in by_class.items():
            shares = [f"{one[share]:.0%}" if share in one else "–" for share in ("decides", "in_reason", "agree")]
            if one["texts"]:
                rows.append([reason, NAMES[variant], label, f"{one['judged']:,} of {one['texts']:,}", *shares])
    head = [
        "reason",
        "model",
        "class",
        "texts",
        "the answer depends on the heaviest word",
        "it is of the reason",
        "both agree",
    ]
    return f"{markdown_table(head, rows)}\n\n{OF_TEXTS}"


def _interval(interval: Mapping[str, float | None]) -> str:
    return f"{_number(interval['mean'])} [{_number(interval['low'])}, {_number(interval['high'])}]"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:z.2f}".replace("-", "−")
