"""The page of links, and its picture: for each method how far above chance its best source word is right."""

from pellucid.base.checks import percent
from pellucid.results.interval import Interval
from studies.shared.claims import ENOUGH_SEEDS, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import listed_seeds, markdown_table, not_run_yet
from studies.shared.units import Numbers
from studies.translation_links.summary import CHANCE, LEARNT, SPANS

HEADINGS = {
    "planted": "Planted translation: the links are known",
    "silver": "Real pairs: links by an aligner",
}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    return (
        "# Links: which explanations find the source word that a word comes from?\n\n"
        f"Translators with [spans of their source](../../docs/papers/corrections.md#a016). Each method explains every "
        "word of the\nreferences; its best source word is right if it is linked to the word.\n\n"
        f"{not_run_yet(numbers['missing'])}![How far above chance](links.svg)\n\n"
        f"{''.join(_corpus(name, of) for name, of in numbers['corpora'].items())}"
        f"{where_computed(numbers['machines'])}\n"
    )


def _corpus(name: str, of: Numbers) -> str:
    claims = [claim_of(one) for one in of["claims"]]
    judged = (
        f"Points of precision; intervals are over trainings and pairs. Below {ENOUGH_SEEDS} trainings there is no "
        f"verdict.\n\n{claims_table(claims, 'points')}"
        if claims
        else "Nothing is claimed of translators that have not learnt to translate.\n"
    )
    return (
        f"## {HEADINGS[name]}\n\n{of['words']:,} linked words of {of['pairs']} test pairs. The trainings translated "
        f"{', '.join(percent(one) for one in of['exact'])} of them exactly.\n{_not_learnt(of)}"
        f"Of a word's lead over the next likeliest one the median share through the spans was "
        f"{_carried(of)}.\n\n{_table(of)}\n\n{_left_out(of)}### Is the model's own weight the better "
        f"answer?\n\n{judged}\n"
    )


def _table(of: Numbers) -> str:
    order = sorted(of["methods"].items(), key=lambda item: -item[1]["precision"]["mean"])
    rows = [
        [title, Interval(**one["precision"]), "–" if one["rank"] is None else f"{one['rank']:.2f}"]
        for title, one in order
    ]
    return markdown_table(["method", "best link right [95 %]", "mean rank of a right word"], rows)


def _not_learnt(of: Numbers) -> str:
    if not of["not_learnt"]:
        return ""
    seeds = listed_seeds(of["not_learnt"])
    return f"**Not learnt, so not judged:** {seeds} (below {percent(LEARNT)}).\n"


def _carried(of: Numbers) -> str:
    return ", ".join("–" if share is None else percent(share) for share in of["carried"])


def _left_out(of: Numbers) -> str:
    if not of["left_out"]:
        return ""
    listed = "".join(f"- {name}: {why}\n" for name, why in of["left_out"].items())
    return f"Left out:\n\n{listed}\n"


def as_picture(numbers: Numbers) -> str:
    """A row a method, a panel a corpus: precision less that of chance."""
    corpora = numbers["corpora"]
    titles = {title: None for of in corpora.values() for title in of["methods"] if title != CHANCE}
    rows = [SPANS, *(title for title in titles if title != SPANS)]
    return interval_plot(
        "Best links right, above chance",
        rows,
        [Panel(name, "share of words", {row: _above(of, row) for row in rows}) for name, of in corpora.items()],
        "Right of the line: more often right than a source word at random. 95 % intervals over trainings and pairs.",
    )


def _above(of: Numbers, title: str) -> Interval | None:
    if title not in of["methods"]:
        return None
    chance = of["methods"][CHANCE]["precision"]["mean"]
    one = of["methods"][title]["precision"]
    return Interval(one["mean"] - chance, one["low"] - chance, one["high"] - chance)
