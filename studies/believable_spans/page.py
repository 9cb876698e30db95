"""The study's page for one corpus."""

from collections.abc import Sequence

from studies.believable_spans.bounds import bounds_of, shown
from studies.believable_spans.evidence import N_SPANS, RANDOM
from studies.shared.claims import ENOUGH_SEEDS
from studies.shared.computing_environment import ComputedUnits, where_computed
from studies.shared.markdown import markdown_table, models_with_seeds, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    return (
        f"# Spans one can believe: {about['title']}\n\n"
        f"{about['n_train']:,} texts to learn from, {about['epochs']} epochs, {about['n_test']:,} test texts; spans of "
        f"{about['n_judged']} of them are judged.\n\n"
        f"{not_run_yet(models_with_seeds(numbers['missing']))}"
        f"## Accuracy and cost\n\n{accuracy_table(numbers)}\n\n"
        f"unread: {about['n_unread']:,} texts that no model learns from, {about['n_dev']:,} of which choose each "
        f"model's epoch; no test text.\nPoints; in brackets t-intervals over seeds, in which texts are nested; "
        f"differences are of the same seeds. Seconds are those of\na training beside others, on one core or one "
        f"GPU.{_trained_twice(numbers['machines'])}\n\n## On dev: what each lever does\n\n![What each lever "
        f"does](levers.svg)\n\n{spans_table(numbers, on_dev=True)}\n\n{_legend()}\n\n{_test_section(numbers)}"
        f"{_methods_section(numbers)}{_marks_section(numbers)}"
        f"{where_computed(numbers['machines'])}\n"
    )


def _trained_twice(machines: Sequence[ComputedUnits]) -> str:
    """A sentence for numbers of two machines: a model does not travel with its numbers."""
    processors = {one["computed"]["processor"] for one in machines if one["computed"]}
    if len(processors) < 2:
        return ""
    return " What is judged on another\nmachine was trained there once more, from the same seed."


def accuracy_table(numbers: Numbers) -> str:
    """Models down; test, dev and what a training takes across."""
    rows = [
        [
            of["title"],
            len(of["seeds"]),
            shown(of["test"]),
            "–" if name == "plain" or of["test_over_plain"] is None else shown(of["test_over_plain"]),
            shown(of["unread"]),
            "–" if name == "plain" or of["unread_over_plain"] is None else shown(of["unread_over_plain"]),
            "–" if of["seconds"] is None else f"{of['seconds']:.0f}",
        ]
        for name, of in numbers["models"].items()
    ]
    return markdown_table(["model", "seeds", "test", "less plain", "unread", "less plain, unread", "seconds"], rows)


def spans_table(numbers: Numbers, on_dev: bool) -> str:
    """Models down; what their heaviest spans do across."""
    spans = {
        name: of["spans_on_dev"] if on_dev else numbers["judged"].get(name, {}).get("spans")
        for name, of in numbers["models"].items()
    }
    rows = [
        [
            numbers["models"][name]["title"],
            shown(of["spans"], 1),
            "–" if of["spread"] is None else f"{of['spread']:.1f}",
            f"{of['words']['mean']:.1f} of {of['n_words']:.1f}",
            shown(of["agrees"], 1),
            f"{of['random_agrees']['mean']:.1f}",
            shown(of["without"], 3),
            f"{of['random_without']['mean']:.3f}",
            f"{of['without_content']['mean']:.1f}",
        ]
        for name, of in spans.items()
        if of
    ]
    return markdown_table(
        [
            "model",
            "spans",
            "deviation",
            "words",
            "alone agree, %",
            "random, %",
            "fall without",
            "random",
            "no content, %",
        ],
        rows,
    )


def _legend() -> str:
    return (
        f"spans: exp(entropy) of a text's weights, and its deviation over seeds. The other columns are of the "
        f"{N_SPANS} heaviest spans that\nshare no word: their words and those of the text; how often the model, "
        f"reading them alone, gives the text's answer, beside {RANDOM}\nrandom choices of spans of the same lengths; "
        f"how far the probability of that answer falls without them; how often the heaviest one has\nno content word."
    )


def _test_section(numbers: Numbers) -> str:
    tables = "\n\n".join(
        f"### {numbers['models'][name]['title']}\n\n{bounds_table(numbers, name)}" for name in numbers["judged"]
    )
    if not tables:
        return ""
    return (
        f"## On test\n\n{spans_table(numbers, on_dev=False)}\n\n## What is asked\n\nVerdicts are of means; of a lead "
        f"over another method, of its interval. Below {ENOUGH_SEEDS} seeds there are none.\n\n{tables}\n\n"
    )


def bounds_table(numbers: Numbers, name: str) -> str:
    """What is asked of one model."""
    rows = [[one.words, one.measured, one.verdict] for one in bounds_of(numbers, name)]
    return markdown_table(["asked", "here", ""], rows)


def _methods_section(numbers: Numbers) -> str:
    sections = [
        f"### {numbers['models'][name]['title']}\n\n{_methods_table(of['methods'])}\n\n"
        for name, of in numbers["judged"].items()
        if "methods" in of
    ]
    if not sections:
        return ""
    about = (
        "## Beside other methods on the same model\n\nEach method's best words, as many as the spans have. Fall of the "
        "answer's probability without them\n(comprehensiveness, higher is better) and with them alone (sufficiency, "
        "lower is better).\n\n"
    )
    return about + "".join(sections)


def _methods_table(methods: Numbers) -> str:
    without, alone = methods["without"], methods["alone"]
    rows = [["the spans", shown(without["own"], 3), shown(alone["own"], 3)]]
    rows += [
        [name, shown(without["methods"][name], 3), shown(alone["methods"][name], 3)] for name in without["methods"]
    ]
    return markdown_table(["by", "fall without", "fall with them alone"], rows)


def _marks_section(numbers: Numbers) -> str:
    marks = numbers["marks"]
    if not marks:
        return ""
    who = next(iter(marks.values()))["who"]
    rows = [[name, *(shown(of["who"][name], 3) for of in marks.values())] for name in who]
    return (
        "## Beside what people marked\n\nEvery explanation is cut at the share of words that people marked in all "
        f"judged texts: one span for IOU F1, the best words for\ntoken F1. All rows are of the same "
        f"texts.\n\n{markdown_table(['explanation', *marks], rows)}\n\n"
    )
