"""The page of the explanations that move."""

from studies.fragile_explanations.sizes import TOP, WORDS
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    return (
        f"# {about['title']}: how easily an explanation moves\n\n"
        f"One word of a text becomes a synonym: at most {WORDS} words of a text are tried, in random order, each with "
        f"all its synonyms, until at most one of the {TOP} words with the\nhighest scores is left while the class "
        f"stays. {about['n_test']:,} test texts; the victim: {about['encoder']}, learnt from {about['n_train']:,} "
        f"texts, {about['epochs']} epochs, {about['seeds']} "
        f"seeds.\n\n{not_run_yet(numbers['missing'])}{_table(numbers)}\n\nMoved: percent of the texts that were "
        f"answered right, with 95 % intervals over seeds and texts; lower is steadier. Below chance: points fewer than "
        f"of scores drawn at random.\nτ: Kendall's, between the scores before and after, of texts that "
        f"moved.\n\n{where_computed(numbers['machines'])}\n"
    )


def _table(numbers: Numbers) -> str:
    rows = [
        [
            row["method"].replace("_", " "),
            row["seeds"],
            f"{row['moved']['mean']:.1f} [{row['moved']['low']:.1f}, {row['moved']['high']:.1f}]",
            _signed(row["below_chance"]),
            "–" if row["tau"] is None else f"{row['tau']:.2f}",
        ]
        for row in numbers["rows"]
    ]
    return markdown_table(["method", "seeds", "moved", "below chance", "τ"], rows)


def _signed(of: dict[str, float] | None) -> str:
    return "–" if of is None else f"{of['mean']:+.1f} [{of['low']:+.1f}, {of['high']:+.1f}]"
