"""The page of the models that learnt from fooled texts."""

from studies.attack_training.numbers import NAMES
from studies.attack_training.sizes import ATTACK, MOST_QUERIES
from studies.shared.claims import ENOUGH_SEEDS, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

WHICH = {"first": "texts alone", "second": "fooled texts too"}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, claims = numbers["about"], [claim_of(one) for one in numbers["claims"]]
    return (
        f"# {about['title']}: learning from texts that fooled the model\n\n"
        f"{ATTACK.upper()}, at most {MOST_QUERIES} queries a text, attacks {about['attacked']:,} of the "
        f"{about['n_train']:,} texts that a model has learnt from; those that fooled it join the others,\nand a new "
        f"model learns from all. {about['n_test']:,} test texts are attacked. {about['encoder']}, {about['epochs']} "
        f"epochs, {about['seeds']} seeds.\n\n{not_run_yet(numbers['missing'])}{_table(numbers)}\n\n"
        "Percent of right answers with 95 % intervals over seeds and texts. Fooled: texts that joined, the mean over "
        "seeds; a synonym may have changed what they say.\n\n"
        f"## What it changes\n\nPoints of accuracy; positive where it helps. Below {ENOUGH_SEEDS} seeds there is no "
        f"verdict; “reproduced” means that it is so "
        f"here.\n\n{claims_table(claims, 'points') if claims else 'Nothing could be tested.'}\n"
        f"{where_computed(numbers['machines'])}\n"
    )


def _table(numbers: Numbers) -> str:
    rows = [
        [
            NAMES[row["victim"]],
            WHICH[row["model"]],
            row["seeds"],
            _interval(row["before"]),
            _interval(row["after"]),
            f"{row['fooled']:.0f}" if row["model"] == "second" else "–",
        ]
        for row in numbers["rows"]
    ]
    return markdown_table(["model", "learnt from", "seeds", "right", "right under attack", "fooled"], rows)


def _interval(of: dict[str, float]) -> str:
    return f"{of['mean']:.1f} [{of['low']:.1f}, {of['high']:.1f}]"
