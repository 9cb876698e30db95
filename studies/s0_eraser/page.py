"""T3 as a page: the agreement with people's marks, with the paper's numbers beside."""

from collections.abc import Sequence

from pellucid.evidence.eraser_scores import NUMBERS
from pellucid.results.heaviest_spans import COLLAPSED, HeaviestSpans
from studies.s0_eraser.numbers import RANDOM
from studies.shared.units import Numbers

# Sun et al. (2020), table 3: IOU F1, token F1
PAPER = {
    ("movies", "average_gradient"): (0.075, 0.175),
    ("movies", "average_attention"): (0.067, 0.142),
    ("movies", "rationale"): (0.132, 0.281),
    ("movies", "span"): (0.152, 0.314),
    ("snli", "average_gradient"): (0.251, 0.349),
    ("snli", "average_attention"): (0.301, 0.435),
    ("snli", "rationale"): (0.381, 0.459),
    ("snli", "span_stripped"): (0.454, 0.571),
    ("snli", "span_with_content"): (0.454, 0.571),
}
TITLES = {
    "one span": "One span each, by the paper's rule; of `rationale` all that it reads",
    "budget": "One span each, of equal length: people's share of a text's words",
    "words": "The best words, as many",
}
ROWS = {
    "span": "span attention as in the paper",
    "span_stripped": "span attention that does not read a text's final full stop",
    "span_with_content": "span attention over the spans that hold a content word",
}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    tasks = "\n".join(_of_task(task, about["sizes"][task], of) for task, of in numbers["tasks"].items())
    return (
        "# Do the spans agree with people's marks?\n\n"
        f"Table 3 of Sun et al. (2020), with {about['encoder']}, training seeds: {about['seeds']}.\n\n"
        "- **Scores** are those of the ERASER benchmark, 0 to 1; in brackets the paper's (RoBERTa), which does not say "
        "how its\n  spans were cut. They say whether spans look right to people, not whether the model used them.\n"
        f"- **Intervals** are t-intervals at 95 % over training seeds, with the spread of the texts in them; no "
        f"verdict from fewer than three.\n- **Equal length** is counted in the benchmark's words, which stand between "
        f"blanks: *taken* is the share of them that was\n  extracted, *marked* people's. A final full stop stands "
        f"against the last word there, so a span that is nothing but the\n  full stop counts as the last word, and can "
        f"agree with people by that alone. Lengths of ours are to the nearest token,\n  at least one a text.\n"
        f"- **Collapsed** is a model whose heaviest span is punctuation or function words alone in more than "
        f"{100 * COLLAPSED:g} % of the\n  texts, with any seed. Nothing is claimed of it.\n"
        "- `average_gradient` reads the label of the text. The paper has no random spans.\n\n"
        f"{tasks}"
    )


def _of_task(task: str, size: Numbers, numbers: Numbers) -> str:
    cuts = "\n".join(f"### {title}\n\n{_table(task, cut, numbers)}\n" for cut, title in TITLES.items())
    return (
        f"## {task}\n\n{_trained_on(size)}\n\n### In sentences\n\n{_sentences(numbers)}\n\n"
        f"### What the heaviest spans are\n\n{_spans(numbers)}\n\n"
        f"### The penalty, chosen on dev\n\n{_choosing(size, numbers)}\n\n"
        f"### Accuracy on the judged texts\n\n{_models(numbers)}\n\n{cuts}\n"
        f"### Is span attention better?\n\n{_verdicts(numbers['claims'])}\n"
    )


def _trained_on(size: Numbers) -> str:
    count = {name: "all" if size[name] is None else f"{size[name]:,}" for name in ("train", "dev", "judged")}
    cut = (
        ""
        if size["words"] is None
        else f" Of each text only the last sentences are read, up to {size['words']} words between blanks, and judged "
        f"by what people marked in them: whole reviews took 40 minutes a model."
    )
    return (
        f"Trained on {count['train']} texts for {size['epochs']} epoch{'s' * (size['epochs'] > 1)}, the epoch chosen "
        f"on {count['dev']}, judged on {count['judged']}.{cut}"
    )


def _sentences(numbers: Numbers) -> str:
    return "\n".join(f"- {line}" for row in numbers["spans"] for line in _of_row(row, numbers))


def _of_row(row: str, numbers: Numbers) -> list[str]:
    spans, seeds = numbers["spans"][row], numbers["seeds"]
    heaviest = HeaviestSpans(**spans["heaviest"])
    start = (
        f"`{row}` ({ROWS[row]}; {spans['penalty']}): {heaviest.share_without_content:.0%} of its heaviest spans hold "
        f"no content word ({seeds} seed{'s' * (seeds > 1)})"
    )
    if spans["collapsed"]:
        return [f"{start}; **collapsed** with {spans['collapsed']}: no verdict."]
    claims = [one for one in numbers["claims"] if one["row"] == row]
    equal = [one for one in claims if one["cut"] == "budget" and one["score"] == "token_f1"]
    differences = "; ".join(f"{_signed(one['difference'])} over {one['than']}, {one['verdict']}" for one in equal)
    random = [one["verdict"] for one in claims if one["than"] == RANDOM]
    return [
        f"{start}; read alone they get the text's answer in {heaviest.alone_agrees:.0%}, random spans as long in "
        f"{heaviest.random_agrees:.0%}.",
        f"`{row}` at equal length, token F1 ({seeds} seed{'s' * (seeds > 1)}, {equal[0]['texts']:,} texts; "
        f"{equal[0]['beside']}): {differences}.",
        f"`{row}` against random spans, in three cuts by two scores: {_counted(random)}.",
    ]


def _counted(verdicts: Sequence[str]) -> str:
    return ", ".join(f"{one} in {verdicts.count(one)} of {len(verdicts)}" for one in dict.fromkeys(verdicts))


def _spans(numbers: Numbers) -> str:
    rows = "\n".join(_of_spans(row, spans) for row, spans in numbers["spans"].items())
    return (
        "Over all seeds; words as shares of all words in the heaviest spans. Read alone: how often the span by itself "
        "gets the\ntext's answer, and random spans as long.\n\n"
        "| | penalty | no content word, by seed | read alone | random, read alone | effective spans, by seed | "
        f"commonest words |\n|---|---|---|---|---|---|---|\n{rows}"
    )


def _of_spans(row: str, spans: Numbers) -> str:
    heaviest = HeaviestSpans(**spans["heaviest"])
    share = ", ".join(f"{one['heaviest_without_content']:.0%}" for one in spans["by_seed"])
    effective = ", ".join(f"{one:.1f}" for one in spans["effective_spans"])
    words = ", ".join(f"`{word}` {count / spans['words_in_all']:.0%}" for word, count in spans["words"][:6])
    return (
        f"| {row} | {spans['penalty']} | {share} | {heaviest.alone_agrees:.0%} | {heaviest.random_agrees:.0%} | "
        f"{effective} | {words} |"
    )


def _choosing(size: Numbers, numbers: Numbers) -> str:
    best = {row: spans["penalty"] for row, spans in numbers["spans"].items()}
    rows = "\n".join(
        f"| {one['kind']} | {one['penalty']} | {one['dev_accuracy']:.3f} "
        f"| {HeaviestSpans(**one['heaviest']).share_without_content:.0%}{', collapsed' * one['collapsed']} "
        f"| {'chosen' * (best[one['kind']] == one['penalty'])} |"
        for one in numbers["choosing"]
    )
    texts = size["choosing"] or size["train"]
    with_so_many = "" if texts is None else f", {texts:,} training texts"
    return (
        f"One seed{with_so_many}. The best accuracy on dev among those whose spans did not collapse; among all, where "
        f"all did.\n\n| | penalty | accuracy on dev | no content word | |\n|---|---|---|---|---|\n{rows}"
    )


def _models(numbers: Numbers) -> str:
    rows = "\n".join(
        f"| {kind} | {_cell(one['interval'])} | {', '.join(f'{share:.3f}' for share in one['by_seed'])} |"
        for kind, one in numbers["models"].items()
    )
    return f"| | accuracy | by seed |\n|---|---|---|\n{rows}"


def _table(task: str, cut: str, numbers: Numbers) -> str:
    lines = []
    for row, scores in numbers["cuts"][cut].items():
        paper = PAPER.get((task, row))
        cells = [
            _cell(scores[score]) + (f" ({paper[number]:.3f})" if paper else "") for number, score in enumerate(NUMBERS)
        ]
        collapsed = " (collapsed)" if numbers["spans"].get(row, {}).get("collapsed") else ""
        lines.append(
            f"| {row}{collapsed} | {numbers['taken'][row][cut]:.1%} | {numbers['marked']:.1%} | {' | '.join(cells)} |"
        )
    head = "| spans by | taken | marked | IOU F1 | token F1 |\n|---|---|---|---|---|"
    return "\n".join([head, *lines])


def _cell(interval: Sequence[float | None]) -> str:
    mean, low, high = interval
    return f"{mean:.3f}" if low is None else f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _signed(interval: Sequence[float | None]) -> str:
    mean, low, high = interval
    return f"{mean:+.3f}" if low is None else f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"


def _verdicts(claims: Sequence[Numbers]) -> str:
    lines = [
        f"| {one['row']} | {one['cut']} | {one['score']} | {one['than']} | {_signed(one['difference'])} | "
        f"{one['verdict']} |"
        for one in claims
    ]
    return "\n".join(["| spans by | cut | score | than | difference | |\n|---|---|---|---|---|---|", *lines])
