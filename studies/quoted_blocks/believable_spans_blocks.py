"""The tables of docs/papers/believable-spans.md: what each lever does on dev, what is asked on each corpus, and the
rivals.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from pellucid.results.table import CHANCE
from studies.believable_spans.bounds import SCORE_TITLES, Bound, bounds_of, shown
from studies.believable_spans.corpora import CORPORA
from studies.quoted_blocks.study_results import result_of
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers

STUDY = "believable_spans"
LEVERS_ON, RECIPE, NO_RUN = "sst2", "believable", "Not run yet."


def believable_spans_levers_claims(root: Path) -> str:
    """Models down; accuracy on unread texts beside the plain model, what their heaviest spans do, and the time of a
    training across.
    """
    numbers = result_of(root, f"{STUDY}/{LEVERS_ON}")
    if numbers is None:
        return NO_RUN
    plain = numbers["models"].get("plain", {}).get("seconds")
    rows = [
        [of["title"], len(of["seeds"]), *_lever(of, plain)] for name, of in numbers["models"].items() if name != "plain"
    ]
    head = ["model", "seeds", "accuracy", "spans", "alone agree", "fall without", "no content, %", "time"]
    return markdown_table(head, rows)


def believable_spans_bounds_claims(root: Path) -> str:
    """What is asked down, corpora across: the recipe's numbers with their verdicts."""
    bounds = {
        title: {one.words: one for one in bounds_of(numbers, RECIPE)}
        for title, numbers in _judged_corpora(root).items()
    }
    if not bounds:
        return NO_RUN
    lines = dict.fromkeys(words for of in bounds.values() for words in of)
    rows = [[words, *(_bound(of.get(words)) for of in bounds.values())] for words in lines]
    return markdown_table(["asked", *bounds], rows)


def believable_spans_accuracy_claims(root: Path) -> str:
    """Models down, corpora across: accuracy on test less the plain model's of the same seeds."""
    return _by_model(root, lambda numbers: {of["title"]: _over_plain(of) for of in _rivals(numbers)})


def believable_spans_methods_claims(root: Path) -> str:
    """Models and measures down, corpora across: how far the spans are ahead of the best post-hoc method on the same
    model.
    """
    return _by_model(
        root,
        lambda numbers: {
            f"{numbers['models'][name]['title']}, {words}": _over_best(of["methods"][field]) + _star(of)
            for name, of in numbers["judged"].items()
            if "methods" in of
            for field, words in (("without", "left out"), ("alone", "alone"))
        },
    )


def believable_spans_marks_claims(root: Path) -> str:
    """Explanations and scores down, corpora across: agreement with what people marked, and the best post-hoc
    method's.
    """
    return _by_model(root, _agreement)


def _judged_corpora(root: Path) -> dict[str, Numbers]:
    """Title -> numbers of the corpora that were run, the one where dev chooses left out."""
    results = {one.title: result_of(root, f"{STUDY}/{on}") for on, one in CORPORA.items() if on != LEVERS_ON}
    return {title: numbers for title, numbers in results.items() if numbers is not None}


def _by_model(root: Path, cells_of: Callable[[Numbers], Mapping[str, str]]) -> str:
    """Rows that one or more corpora have, corpora across; corpora without any row are left out."""
    cells = {title: cells_of(numbers) for title, numbers in _judged_corpora(root).items()}
    cells = {title: of for title, of in cells.items() if of}
    rows = dict.fromkeys(name for of in cells.values() for name in of)
    if not rows:
        return NO_RUN
    return markdown_table(["", *cells], [[name, *(of.get(name, "–") for of in cells.values())] for name in rows])


def _lever(of: Numbers, plain: float | None) -> list[str]:
    time = "–" if of["seconds"] is None or not plain else f"{of['seconds'] / plain:.1f} ×"
    spans = of["spans_on_dev"]
    if not spans:
        return [_over_unread(of), "–", "–", "–", "–", time]
    spread = "" if spans["spread"] is None else f" ± {spans['spread']:.1f}"
    return [
        _over_unread(of),
        f"{spans['spans']['mean']:.1f}{spread}",
        f"{spans['agrees']['mean']:.1f} ({spans['random_agrees']['mean']:.1f})",
        f"{spans['without']['mean']:.3f} ({spans['random_without']['mean']:.3f})",
        f"{spans['without_content']['mean']:.1f}",
        time,
    ]


def _over_unread(of: Numbers) -> str:
    return "–" if of["unread_over_plain"] is None else shown(of["unread_over_plain"], 1)


def _bound(one: Bound | None) -> str:
    if one is None:
        return "–"
    return f"{one.measured}, {one.verdict}" if one.verdict else one.measured


def _rivals(numbers: Numbers) -> list[Numbers]:
    return [of for name, of in numbers["models"].items() if name != "plain"]


def _over_plain(of: Numbers) -> str:
    return "–" if of["test_over_plain"] is None else shown(of["test_over_plain"], 1)


def _over_best(one: Numbers) -> str:
    return f"{shown(one['over_best'], 3)} over {one['best']}"


def _star(judged: Numbers) -> str:
    """What marks numbers of one seed."""
    return " \\*" if len(judged["seeds"]) == 1 else ""


def _agreement(numbers: Numbers) -> dict[str, str]:
    """Row -> mean with its interval: models' own explanations, the best post-hoc method on any model, and random
    words.
    """
    cells: dict[str, str] = {}
    stars = {numbers["models"][name]["title"]: _star(of) for name, of in numbers["judged"].items()}
    for score, of in numbers["marks"].items():
        title = SCORE_TITLES[score]
        cells |= {f"{title}, {who}": shown(of["who"][who], 3) + stars.get(who, "") for who in of["leads"]}
        best = {lead["best"]: of["who"][lead["best"]] for lead in of["leads"].values()}
        for who in sorted(best, key=lambda who: -best[who]["mean"])[:1]:
            cells[f"{title}, the best method"] = f"{shown(best[who], 3)} ({who})"
        by_chance = next((who for who in of["who"] if who.startswith(f"{CHANCE} ")), None)
        if by_chance is not None:
            cells[f"{title}, random words"] = shown(of["who"][by_chance], 3)
    return cells
