"""The words of classes as a page: the overlap of every method, the lists, and what pairs of classes share."""

import math
from collections.abc import Mapping

from pellucid.results.word_lists import MOST
from studies.s1_games.page import lens_in_words
from studies.s1_games.tasks import DECODED, UNDECODED
from studies.s1_words.pictures import cloud_picture, overlap_picture
from studies.shared.claims import claim_of, claims_table
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

LISTED = 12  # words of a class in the table


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, shown = numbers["about"], shown_method(numbers)
    missing = not_run_yet(f"{name}: {why}" for name, why in numbers["missing"].items())
    claims = [claim_of(one) for one in numbers["claims"]]
    return (
        f"# {about['title']}: the words of each class, and what classes share\n\n"
        f"{about['n_texts']:,} test texts, {about['seeds']} training seeds; tokens of the model, scores added up over "
        f"the texts of a predicted class, times idf of {about['n_idf_texts']:,} texts\n(A1.10, A1.11). Section 4.2 of "
        f"Hou and Castañón (2023). States are decoded by "
        f"{lens_in_words(about)}.\n\n{missing}![Overlap of the classes' lists](overlap.svg)\n\n## "
        f"Overlap\n\nPercent of the {MOST} first tokens, or as many as the shortest list has, that pairs of classes "
        f"share; over seeds, with a 95 %\nt-interval. Beside it what lists of random tokens and of the rarest tokens "
        f"share: a method that shares as little as the\nrarest tokens do may only have picked what occurs "
        f"once.\n\n{_overlap(numbers)}\n\n{_without(numbers)}## Claims of the "
        f"paper\n\n{claims_table(claims, 'points') if claims else 'None of the claims could be tested.'}\n## The first "
        f"words of each class, by {shown}\n\n![Clouds](clouds.svg)\n\n{_words(numbers['methods'][shown])}\n\n## What "
        f"pairs of classes share, seed 0\n\n{_shared(numbers)}\n\n## Figure 1, our own drawing\n\n![Two tokens, their "
        f"states, and the states decoded](geometry.svg)\n"
    )


def shown_method(numbers: Numbers) -> str:
    """The method whose words are shown: the decoded one, or the same layer undecoded."""
    methods = numbers["methods"]
    return next(name for name in (DECODED, UNDECODED, *methods) if name in methods)


def _overlap(numbers: Numbers) -> str:
    rows = []
    for method, one in numbers["methods"].items():
        raw = one["overlap"]["raw"]
        cells = [_cell(raw["lists"]), _cell(one["overlap"]["normalised"]["lists"])]
        rows.append([method, one["k"], *cells, _cell(raw["random_mean"]), _cell(raw["rarest"])])
    head = ["method", "words", "added scores", "added shares", "random tokens", "rarest tokens"]
    return markdown_table(head, rows)


def _without(numbers: Numbers) -> str:
    """The sentence about methods that have no list; "" where all have one."""
    names = [method for method, one in numbers["methods"].items() if not one["k"]]
    return f"No list, since no token has a score above 0: {', '.join(names)}.\n\n" if names else ""


def _cell(interval: Mapping[str, float]) -> str:
    if math.isnan(interval["mean"]):
        return "–"
    if math.isnan(interval["low"]):
        return "{mean:.1f}".format(**interval)
    return "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**interval)


def _words(method: Numbers) -> str:
    rows = (
        [label, method["n_texts"].get(label, 0), ", ".join(_code(word) for word, *_ in words[:LISTED]) or "–"]
        for label, words in method["top"].items()
    )
    return markdown_table(["class", "texts", "first tokens, seed 0"], rows)


def _shared(numbers: Numbers) -> str:
    rows = [
        [method, f"{first} and {second}", len(words), " ".join(map(_code, words)) or "–"]
        for method, one in numbers["methods"].items()
        for first, second, words in one["shared"]
    ]
    return markdown_table(["method", "classes", "shared", "tokens"], rows)


def _code(word: str) -> str:
    """A token as Markdown shows it as it is, also in a table."""
    return "`" + word.replace("`", "'").replace("|", "¦") + "`"


def curves(numbers: Numbers) -> str:
    """Figure 4: the overlap of every method against k, seed 0, beside the controls of the shown method."""
    lines = {name: one["curve"]["lists"] for name, one in numbers["methods"].items() if one["k"]}
    shown = numbers["methods"][shown_method(numbers)]["curve"]
    lines |= {"random tokens": shown["random_mean"], "rarest tokens": shown["rarest"]}
    return overlap_picture(lines, f"{numbers['about']['title']}: tokens that pairs of classes share")


def clouds(numbers: Numbers) -> str:
    """Figures 7 and 8: a cloud a class of the shown method; a class for which no word speaks has none."""
    shown = shown_method(numbers)
    tops = numbers["methods"][shown]["top"]
    words = {label: [(word, score) for word, score, _ in top if score > 0] for label, top in tops.items()}
    words = {label: heaviest for label, heaviest in words.items() if heaviest}
    return cloud_picture(words, f"{numbers['about']['title']}: tokens of each class, by {shown}")
