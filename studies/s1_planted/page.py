"""The page of the planted word: what was found from each layer, decoded and not, and the verdict on the layer of
dev.
"""

from collections.abc import Mapping

from pellucid.results.table import CHANCE, Interval
from studies.planted_token.study import LEARNT
from studies.s1_games.tasks import DECODED, UNDECODED
from studies.shared.claims import claim_of, claims_table
from studies.shared.markdown import listed_seeds, markdown_table
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    right = ", ".join(f"{one:.3f}" for one in numbers["accuracy"])
    lens = (
        f"Language head: `{numbers['lens']}`."
        if numbers["lens"]
        else "Language head: a short lens for each seed, trained on the\ntexts that the classifier learnt; so it has "
        "seen the made-up words."
    )
    return (
        "# Planted word: does decoded saliency find it?\n\n"
        "A plain MiniLM classifier learnt texts whose label one made-up word decides. Average precision of that word "
        f"in the ranking of all\nwords (1 / its rank), over {numbers['texts']} test texts. {lens} Accuracy on test by "
        f"seed: {right}.\n\n"
        f"{_judged(numbers)}"
    )


def _judged(numbers: Numbers) -> str:
    left_out = (
        f"**Not learnt (below {LEARNT}), so left out: {listed_seeds(numbers['not_learnt'])}.**\n\n"
        if numbers["not_learnt"]
        else ""
    )
    if not numbers["methods"]:
        return f"{left_out}No classifier has learnt the word, so nothing can be said about explanations.\n"
    chance = Interval(**numbers["methods"][CHANCE]["found"])
    of_dev = "; ".join(f"{name}: l = {layer}" for name, layer in numbers["layers"].items())
    claims = [claim_of(one) for one in numbers["claims"]]
    return (
        f"{left_out}Layer with the highest mean on dev texts: {of_dev}. Random scores have "
        f"{chance}.\n\n{_table(numbers)}\n\nMean over seeds and texts with a 95 % t-interval over seeds, in which "
        f"texts are nested. `·`: not told from chance, or worse.\n*named first*: share of a text's pieces that the "
        f"head names first from this layer.\n\n## What the layer of dev has over others\n\nPoints of average precision "
        f"on test texts. No paper gives numbers for this.\n\n{claims_table(claims, 'points')}"
    )


def _table(numbers: Numbers) -> str:
    methods, recovery = numbers["methods"], numbers["recovery"]
    rows = [
        [
            layer,
            _cell(methods[f"{DECODED} l{layer}"]),
            _cell(methods[f"{UNDECODED} l{layer}"]),
            f"{100 * recovery[layer]:.0f} %",
        ]
        for layer in recovery
    ]
    return markdown_table(["layer", f"`{DECODED}`", f"`{UNDECODED}`", "named first"], rows)


def _cell(method: Mapping[str, Mapping[str, float]]) -> str:
    words = "{mean:.3f} [{low:.3f}, {high:.3f}]".format(**method["found"])
    return words if method["over_chance"]["low"] > 0 else f"{words} ·"
