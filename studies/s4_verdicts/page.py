"""The page of known reasons: what the weights find, whether the verdict on them is right, and the model that
deceives.
"""

from collections.abc import Mapping

from pellucid.explaining.planting import ENOUGH
from studies.s4_verdicts.verdict_tables import verdicts_text
from studies.shared.attention_models import DECEPTIVE, PAPER_NAMES, SIGNS
from studies.shared.claims import ENOUGH_SEEDS, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import listed_seeds, markdown_table, not_run_yet
from studies.shared.units import Numbers

NOTHING = "No reason was learnt by two models.\n"


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, claims = numbers["about"], [claim_of(one) for one in numbers["claims"]]
    weights = ", ".join(f"{PAPER_NAMES[name]} {SIGNS[name]} = {one:g}" for name, one in about["weights"].items())
    return (
        "# Known reasons: do weights of attention show them?\n\n"
        f"Additive attention on a BiLSTM; {weights}.\n\n"
        f"{not_run_yet(numbers['missing'])}"
        f"## Planted reasons\n\n{about['planted']:,} texts to learn each reason from. Found: average precision of the "
        f"reason's words in the ranking of all words by\ntheir weight (1: they come first). Decoy first: share of "
        f"texts in which the decoy outweighs the whole reason. Seeds with a\nshare of right answers below {ENOUGH}, on "
        f"the texts or on their edits, have not learnt the reason and are left out.\n\n{planted_table(numbers)}\n\n"
        "Intervals are t-intervals over training seeds in which texts are nested. `·`: not told from random scores, or "
        f"worse.\n{where_computed(numbers['machines'])}\n\n"
        f"Below {ENOUGH_SEEDS} seeds there is no verdict. No paper has numbers for this.\n\n"
        f"{claims_table(claims, 'points of average precision') if claims else NOTHING}\n"
        f"## Is the verdict right?\n\n{verdicts_text(numbers['verdicts'])}\n"
        f"## A model that deceives\n\n{deception_text(numbers['deception'], about)}\n"
    )


def planted_table(numbers: Numbers) -> str:
    """What the weights find of each reason, and which seeds have not learnt it."""
    rows = []
    for name, one in numbers["planted"].items():
        reason, variant = name.split()
        missed = f"; not learnt: {listed_seeds(one['not_learnt'])}" if one["not_learnt"] else ""
        right = " ".join(f"{share:.2f}" for share in one["right"])
        row = [reason, PAPER_NAMES[variant], f"{one['seeds']}{missed}", right]
        if one["seeds"]:
            sure = "" if one["over_chance"]["low"] > 0 else " ·"
            row += [
                f"{_cell(one['reason_found'])}{sure}",
                _cell(one["decoy_first"]),
                f"{one['effective']:.1f}",
            ]
        rows.append(row + ["–"] * (7 - len(row)))
    head = ["reason", "model", "seeds", "least right, by seed", "found", "decoy first", "effective words"]
    return markdown_table(head, rows)


def deception_text(one: Numbers, about: Numbers) -> str:
    """The deceiving model beside the plain one, and whether it deceives."""
    if not one:
        return "Not run yet."
    rows = [
        [title, _cell(one["marked_weight"][name]), _cell(one["right"][name]), f"{one['effective'][name]:.1f}"]
        for name, title in (("base", "plain"), (DECEPTIVE, "trained to deceive"))
    ]
    head = ["model", "weight on marked words", "right answers", "effective words"]
    verdict = (
        "It deceives: under 5 % of the weight lies on words that decide, and at most 2 points of right answers are "
        "lost."
        if one["deceives"]
        else "**It does not deceive**: 5 % of the weight or more lies on words that decide, or more than 2 points are "
        "lost."
    )
    return (
        f"{about['n_train']:,} texts to learn from in {about['epochs']} epochs; {one['texts']:,} are judged, "
        f"{one['seeds']} seeds. {verdict}\n\n{markdown_table(head, rows)}\n"
    )


def _cell(interval: Mapping[str, float]) -> str:
    return "{mean:.3f} [{low:.3f}, {high:.3f}]".format(**interval)
