"""Tables 5 and 6 as a page: spans in numbers, spans on sentences of our own, and patterns of errors."""

import math
from collections.abc import Mapping, Sequence

from studies.s0_evidence.picture import TITLES
from studies.shared.units import Numbers

SPAN = "span_attention"
RIVALS = ("average_gradient", "average_attention")  # those that the paper speaks of
# Sun et al. (2020), section 6.1: the kinds of errors that they see, and which of our rules can count them
KINDS = (
    ("the span leaves out the part after a contrast", "`contrast_outside`"),
    (
        "a word whose context turns it",
        "`negation_cut_off` where the context is a negation; part of `cue_of_another_class`",
    ),
    ("irony", "no rule can tell it; part of `cue_of_another_class`"),
    ("analogy", "no rule can tell it; part of `no_cue`"),
)


WITHDRAWN = (
    "**Withdrawn: the model had collapsed.** The heaviest spans of the self-explaining model have no content in "
    "too many texts, so "
    "what was counted\nof them, and of errors by them, says nothing of tables 5 and 6 of Sun et al. (2020). The "
    "numbers stay "
    "in `result.json`, to be run again."
)


def withdrawn(numbers: Numbers) -> bool:
    """Whether nothing may be concluded: the spans had collapsed, or, in older numbers, nobody had looked."""
    return bool(numbers.get("collapsed", "heaviest" not in numbers))


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    if withdrawn(numbers):
        return f"# Evidence side by side, and in errors: {about['data']}\n\n{WITHDRAWN}\n"
    return (
        f"# Evidence side by side, and in errors: {about['data']}\n\n"
        "Tables 5 and 6 of Sun et al. (2020), which tell by example. Here what can be counted is counted on "
        f"{numbers['texts']:,} test texts;\nthe sentences shown are our own. {about['encoder']}, {about['epochs']} "
        f"epochs, λ = {about['concentration']:g}, seed {about['seed']}.\nPages that show the data's own texts are "
        f"written beside the models. "
        "One seed, so nothing is judged."
        f"{_heaviest(numbers)}\n\n"
        f"{_table_5(numbers['table 5'])}\n{_sentences(numbers)}\n{_table_6(numbers['table 6'])}"
    )


def _table_5(table: Numbers) -> str:
    rows = [_row(name, f"{name}", row) for name, row in table["own"].items()]
    rows += [
        _row(name, f"{name}, as long as span_attention", row)
        for name, row in table["alike"].items()
        if name != "span_attention"
    ]
    holds = table["own"]["span_attention"]
    return (
        "## Table 5: the spans in numbers\n\n"
        "| spans by | words [95 %] | coverage | hold the contrast word | hold the negation |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\nThe last columns count the texts that have such a word: "
        f"{holds['contrast']['of']} with a contrast (but, though, however, …), {holds['negation']['of']} with a\n"
        "negation (not, n't, never, …). No extractor sees the label: `average_gradient` reads the predicted class, "
        "where the\npaper's reads the right one. By itself it and `average_attention` take the span with the largest "
        "centred sum; the\npaper's rule would always take one word "
        f"([A0.10](../../docs/papers/corrections.md#a010)).\n\nSpan attention less each other extractor; for the last "
        f"two columns all spans are of the same length:\n\n{_differences(table)}\n\nWhat the paper says of its "
        f"examples, over all texts. All this is of one training seed: the intervals know of texts\nalone, so they "
        f"describe these models, and whether the paper's claims hold is not judged. Which spans are longer hangs\non "
        f"the rule by which gradients and attention are cut.\n\n" + _paper_claims(table)
    )


def _differences(table: Numbers) -> str:
    rows = "\n".join(
        f"| {name} | {_cell(table['longer'].get(name))} | {_cell(table['holds']['contrast'][name])} "
        f"| {_cell(table['holds']['negation'][name])} |"
        for name in table["holds"]["contrast"]
    )
    head = "| span attention less | words, own lengths | holds the contrast, points | holds the negation, points |"
    return f"{head}\n|---|---|---|---|\n{rows}"


def _cell(over: Mapping[str, float] | None) -> str:
    if over is None or math.isnan(over["mean"]):
        return "–"
    return "{mean:+.1f} [{low:+.1f}, {high:+.1f}]".format(**over)


def _row(name: str, title: str, row: Numbers) -> str:
    words = "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**row["words"])
    return (
        f"| {title} | {words} | {row['coverage']:.0%} | {_share_of(row['contrast'])} | {_share_of(row['negation'])} |"
    )


def _share_of(counted: Numbers) -> str:
    share = counted["share"]
    if not counted["of"]:
        return "–"
    return f"{counted['held']} ({_percent(share)})"


def _percent(share: Mapping[str, float]) -> str:
    if math.isnan(share["mean"]):  # no text to count
        return "–"
    return f"{share['mean']:.0%} [{share['low']:.0%}, {share['high']:.0%}]"


def _paper_claims(table: Numbers) -> str:
    """Section 6.1: spans are more comprehensive than AvgGradient's and AvgAttention's, and hold the word that turns the
    text.
    """
    claims = {
        "spans are longer than those of {}, cut by the largest centred sum": table["longer"],
        "spans hold the contrast word oftener than those of {}, as long": table["holds"]["contrast"],
    }
    rows = [
        f"| {words.format(name)} | {_cell(over[name])} |"
        for words, over in claims.items()
        for name in RIVALS
        if not math.isnan(over[name]["mean"])
    ]
    more = table["own"][SPAN]["words"]
    rows.append(
        "| spans are longer than those of either, cut by the paper's literal rule, which always takes one word "
        f"| {more['mean'] - 1:+.1f} [{more['low'] - 1:+.1f}, {more['high'] - 1:+.1f}] |"
    )
    listed = "\n".join(rows)
    return f"| what the paper says | here, words or points [95 % over texts] |\n|---|---|\n{listed}\n"


def _heaviest(numbers: Numbers) -> str:
    """A sentence on the heaviest spans."""
    return f"\n\nThe self-explaining model's heaviest spans: {numbers['heaviest']}"


def _sentences(numbers: Numbers) -> str:
    listed = "\n".join(map(_sentence, numbers["sentences"]))
    return (
        "## Table 5: on sentences of our own\n\n![Spans of four extractors on six sentences](spans.svg)\n\n"
        f"The models have learnt {numbers['about']['data']} and read sentences of `pocket`, chosen by digest among "
        f"those with a contrast, a negation,\nirony, or none of these. The same in words:\n\n"
        f"{listed}\n"
    )


def _sentence(one: Numbers) -> str:
    answers = ", ".join(f"{kind}: {label}" for kind, label in one["said"].items())
    spans = "\n".join(f"  - {TITLES[name]}: {_quoted(one, quoted)}" for name, quoted in one["spans"].items())
    return (
        f"- “{one['text']}” The author: {one['label']}, for {_quoted(one, one['marked'])}. The models: "
        f"{answers}.\n{spans}"
    )


def _quoted(one: Numbers, spans: Sequence[Sequence[int]]) -> str:
    return ", ".join(f"“{one['text'][start:end]}”" for start, end in spans) or "nothing"


def _table_6(table: Mapping[str, Numbers]) -> str:
    kinds = "\n".join(f"| {paper} | {ours} |" for paper, ours in KINDS)
    return (
        "## Table 6: what errors look like\n\n"
        "The paper shows five misclassified texts and names four kinds of errors. Our rules that count them:\n\n"
        f"| the paper's | here ([rules](../../docs/how-to/analyse-errors.md)) |\n|---|---|\n{kinds}\n\n"
        "A kind says something about errors only where it is more common there than among right answers. ▲ and ▼ are "
        "of this\nmodel alone: another seed may have other errors.\n\n"
        f"### The self-explaining model, by its heaviest span\n\n{_patterns(table['span'])}\n"
        "### The plain model, by average_gradient's span of the same length\n\n"
        f"{_patterns(table['plain'])}\n"
        "A text counts for every pattern that it shows. ▲ more common among wrong answers, ▼ among right ones, ○ not "
        "told apart.\nShares have Wilson intervals, differences Newcombe's; both at 95 %.\n"
    )


def _patterns(table: Numbers) -> str:
    rows = "\n".join(
        f"| `{one['name']}` | {one['among_wrong']} ({_percent(one['share_wrong'])}) "
        f"| {one['among_right']} ({_percent(one['share_right'])}) | {_over(one['over'])} |"
        for one in table["patterns"]
    )
    cues = ", ".join(f"{label} {count}" for label, count in table["cues"].items())
    return (
        f"Wrong on {table['wrong']:,} of {table['wrong'] + table['right']:,} texts. Cue words learnt: {cues}.\n\n"
        "| pattern | among wrong answers [95 %] | among right ones [95 %] | difference, points [95 %] "
        f"|\n|---|---|---|---|\n{rows}\n"
    )


def _over(over: Mapping[str, float]) -> str:
    if math.isnan(over["mean"]):
        return "–"
    mean, low, high = (100 * over[key] for key in ("mean", "low", "high"))
    mark = "▲" if low > 0 else "▼" if high < 0 else "○"
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}] {mark}"
