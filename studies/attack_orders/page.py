"""The page of the orders."""

from pellucid.results.table import Interval
from studies.attack_orders.numbers import COMPARED, QUERIES
from studies.attack_orders.sizes import BEST, RANDOM
from studies.shared.attack_picture import attack_picture
from studies.shared.claims import no_verdict, weighed
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

DRAWN = (RANDOM, "gradient", "occlusion", "shapley_sampling", BEST)


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    return (
        f"# {about['title']}: which explanation finds the words that flip?\n\n"
        f"Words of {about['n_test']:,} test texts are exchanged for WordNet's synonyms, one after another, in the "
        f"order of an explanation's scores, until the answer changes.\nThe victim: {about['encoder']}, learnt from "
        f"{about['n_train']:,} texts, {about['epochs']} epochs, {about['seeds']} seeds. What an explanation costs is "
        f"not counted, except for pwws.\n\n{not_run_yet(numbers['missing'])}![Right answers against "
        f"queries](orders.svg)\n\n{_table(numbers)}\n\nPercent of right answers after so many edited texts, and at the "
        f"end, with 95 % intervals over seeds and texts. Against random order: how many points lower\nthe accuracy at "
        f"{COMPARED} queries is, on the same texts; “better” and “worse” where the interval excludes "
        f"0.\n\n{where_computed(numbers['machines'])}\n"
    )


def as_picture(numbers: Numbers) -> str:
    """Right answers against queries, a curve an order."""
    curves = {one["order"]: one["curve"] for one in numbers["rows"]}
    return attack_picture(f"{numbers['about']['title']}: right answers under synonyms", curves, DRAWN)


def _table(numbers: Numbers) -> str:
    head = ["order", "seeds", *(f"at {one}" for one in QUERIES), "at the end", "against random order", ""]
    rows = [
        [
            row["order"].replace("_", " "),
            row["seeds"],
            *(f"{of['mean']:.1f}" for of in row["at"]),
            f"{row['after']['mean']:.1f} [{row['after']['low']:.1f}, {row['after']['high']:.1f}]",
            *_against(row),
        ]
        for row in numbers["rows"]
    ]
    return markdown_table(head, rows)


def _against(row: Numbers) -> list[str]:
    if row["lower"] is None:
        return ["–", ""]
    of = Interval(**row["lower"])
    beside = f"{row['texts']:,} texts, {row['never_tried']:.0%} never tried"
    better = "undecided" if not of.excludes_zero else "better" if of.mean > 0 else "worse"
    return [f"{of.mean:+.1f} [{of.low:+.1f}, {of.high:+.1f}]", weighed(no_verdict(row["seeds"]) or better, beside)]
