"""Tables 1 and 2 as a page, and the sweep over layers as a picture."""

from collections.abc import Mapping

from pellucid.results.table import Interval
from studies.s1_games.numbers import GAMES
from studies.s1_games.tasks import DECODED, PAPER, UNDECODED
from studies.shared.claims import claim_of, claims_table
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    missing = not_run_yet(f"{name}: {why}" for name, why in numbers["missing"].items())
    claims = [claim_of(one) for one in numbers["claims"]]
    return (
        f"# {about['title']}: hiding and revealing games for saliency of layers\n\n"
        f"{about['n_texts']:,} test texts, those with the smallest digests, and {about['seeds']} training seeds of a "
        f"plain MiniLM classifier ({about['n_train']:,} texts, {about['epochs']} epoch). Tables 1 and 2 of Hou and "
        f"Castañón\n(2023). States are decoded by {lens_in_words(about)}.\n\n{missing}{_layers(numbers)}"
        "![Both games for each method](layers.svg)\n\n"
        "## Areas\n\nArea under the share of right answers while tokens are revealed (↑) or hidden (↓), best scores "
        "first; mean over\ntexts and seeds with its 95 % t-interval over seeds, in which texts are nested. Tokens are "
        f"taken out of attention.\n\n{_table(numbers)}\n\n{_alike(numbers)}## Claims of the paper\n\nPoints of area, "
        f"positive where the paper says so; of hiding the sign is "
        f"turned.\n\n{claims_table(claims, 'points') if claims else 'None of the claims could be tested.'}\nThe "
        f"paper’s further claim, that one backward pass is enough, is a fact of the method and not measured here; what "
        f"it costs\nstands in [performance](../../../docs/performance.md).\n\n## Models\n\n{_models(numbers)}\n"
    )


def lens_in_words(about: Numbers) -> str:
    """Which head decodes the states."""
    return f"the head of `{about['lens']}`" if about["lens"] else "a lens that is trained for each seed"


def _layers(numbers: Numbers) -> str:
    lines = [f"{name}: l = {layer}" for name, layer in numbers["layers"].items()]
    if not lines:
        return ""
    listed = "; ".join(lines)
    return (
        f"Layer with the largest mean of revealing less hiding on {numbers['about']['n_dev']:,} dev texts: "
        f"{listed}.\n\n"
    )


def _table(numbers: Numbers) -> str:
    paper = PAPER.get(numbers["about"]["task"], {})
    rows = (
        [method, *(_cell(areas[game]) for game in GAMES), _paper(paper, method, numbers["layers"])]
        for method, areas in numbers["methods"].items()
    )
    return markdown_table(["method", "revealing ↑", "hiding ↓", "paper: revealing / hiding"], rows)


def _alike(numbers: Numbers) -> str:
    """Methods that rank alike: of two so different ones a sign that neither has scores to rank by."""
    sentences = (
        f"{', '.join(group[:-1])} and {group[-1]} have the same areas for every text: they rank the words of each text "
        f"alike. Where all scores of words are equal, such as 0, words keep reading order.\n\n"
        for group in numbers["alike"]
    )
    return "".join(sentences)


def _paper(paper: Mapping[str, tuple[float, float]], method: str, layers: Mapping[str, int]) -> str:
    """The paper's two areas; beside the layer of dev those of its best layer."""
    name = method
    if method == f"{DECODED} l{layers.get(DECODED)}":
        name = "decoded"
    if method == f"{UNDECODED} l0":
        name = "undecoded l0"
    return "{:.3f} / {:.3f}".format(*paper[name]) if name in paper else "–"


def _cell(interval: Mapping[str, float]) -> str:
    return "{mean:.3f} [{low:.3f}, {high:.3f}]".format(**interval)


def _models(numbers: Numbers) -> str:
    rows = ([one["seed"], f"{one['accuracy']:.4f}", f"`{one['digest'][:16]}`"] for one in numbers["models"])
    return markdown_table(["seed", "accuracy on test", "digest"], rows)


def sweep_picture(numbers: Numbers) -> str:
    """Both games as an SVG: how far each method is from the mean of random scores."""
    methods: Mapping[str, Mapping[str, Mapping[str, float]]] = numbers["methods"]
    floor = methods["chance"]
    titles = [title for title in methods if title != "chance"]
    panels = [
        Panel(
            game,
            "better than random →",
            {title: _over(methods[title][game], floor[game], game) for title in titles},
        )
        for game in GAMES
    ]
    about = numbers["about"]
    foot = (
        f"{about['n_texts']} test texts × {about['seeds']} seeds; 95 % intervals of each method around the mean of "
        f"random scores"
    )
    title = f"{about['title']}: area in both games, less that of random scores"
    return interval_plot(title, titles, panels, foot)


def _over(ours: Mapping[str, float], floor: Mapping[str, float], game: str) -> Interval:
    sign = 1 if game == "revealing" else -1
    ends = sorted(sign * (ours[end] - floor["mean"]) for end in ("low", "high"))
    return Interval(sign * (ours["mean"] - floor["mean"]), *ends)
