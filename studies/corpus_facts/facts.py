"""Corpus facts: every number of the datasheet of our own corpora, counted from the texts.

    python -m studies.corpus_facts --out docs/datasheets/pocket.md
    python -m studies.corpus_facts --out docs/datasheets/helpdesk.md

writes the tables between the page's two markers, of which the first names the corpora, and leaves what people wrote
around them as it is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from pellucid.base.errors import BadFile
from pellucid.base.kinds import datasets
from pellucid.data import built_in
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import SHARES
from pellucid.text.example import Example, group_of
from pellucid.text.units import text_units
from studies.corpus_facts.surface_cues import (
    CUES,
    accuracy_in_folds,
    accuracy_on_dev,
    words_of,
)
from studies.shared.markdown import markdown_table

BEGIN, END = "<!-- facts of {}: begin -->", "<!-- facts: end -->"
PHENOMENA = {
    "pocket": built_in.PHENOMENA,
    "pocket_pairs": built_in.PHENOMENA_OF_PAIRS,
    "helpdesk": built_in.PHENOMENA_OF_REQUESTS,
}
SIDES = {"pocket": ("text",), "pocket_pairs": ("premise", "hypothesis"), "helpdesk": ("text",)}
N = 5  # words in a row that two texts may share
Columns = dict[str, list[Example]]


def facts(corpus: str) -> str:
    """All tables of one corpus, under its heading."""
    examples = load_examples(corpus, "all")
    tables = {
        "Labels and parts": parts_table(corpus),
        "Domains": domains_table(corpus, examples) if corpus == "pocket" else "",
        "The planted habit": habit_table(corpus) if corpus == "helpdesk" else "",
        "Phenomena": phenomena_table(corpus, examples),
        "Length in words": lengths_table(corpus, examples),
        "Evidence": evidence_table(corpus, examples),
        "Minimal pairs" if corpus == "pocket" else "Groups": groups_table(examples),
        "Surface cues": cues_table(corpus),
    }
    sections = [f"### {title} of `{corpus}`\n\n{table}" for title, table in tables.items() if table]
    return "\n\n".join([f"## The numbers of `{corpus}`", *sections])


def parts_table(corpus: str) -> str:
    """How many examples each part has, by label, and how many of them stand in groups."""
    rows = []
    for part in (*SHARES, "all"):
        examples = load_examples(corpus, part)
        grouped = [example for example in examples if "group" in example.meta]
        groups = len({group_of(example) for example in grouped})
        rows.append([part, *_by_label(corpus, examples), len(grouped), groups])
    return markdown_table(["part", "all", *_classes(corpus), "in groups", "groups"], rows)


def domains_table(corpus: str, examples: Sequence[Example]) -> str:
    """How many texts each domain has, by label."""
    domains = _sorted_into(examples, lambda example: [example.meta["domain"]])
    return markdown_table(
        ["domain", "all", *_classes(corpus)],
        ([name, *_by_label(corpus, of_domain)] for name, of_domain in sorted(domains.items())),
    )


def habit_table(corpus: str) -> str:
    """How many texts of each part end in the planted line, by label."""
    by_part = {part: load_examples(corpus, part) for part in (*SHARES, "all")}
    rows = [
        [part, *_by_label(corpus, [one for one in examples if "phone_line" in one.meta["phenomena"]])]
        for part, examples in by_part.items()
    ]
    return markdown_table(["texts with the line", "all", *_classes(corpus)], rows)


def phenomena_table(corpus: str, examples: Sequence[Example]) -> str:
    """How many examples carry each tag, by label, and what the tag means."""
    tagged = _sorted_into(examples, lambda example: example.meta["phenomena"])
    return markdown_table(
        ["tag", "meaning", "all", *_classes(corpus)],
        ([f"`{name}`", meaning, *_by_label(corpus, tagged[name])] for name, meaning in PHENOMENA[corpus].items()),
    )


def lengths_table(corpus: str, examples: Sequence[Example]) -> str:
    """The shortest, the quartiles and the longest of each side, by label."""
    rows = []
    for segment, side in enumerate(SIDES[corpus]):
        for label, of_label in _columns(corpus, examples).items():
            lengths = [len(words_of(example.segments[segment])) for example in of_label]
            rows.append([side, label, *(f"{value:g}" for value in np.quantile(lengths, [0, 0.25, 0.5, 0.75, 1]))])
    return markdown_table(["", "label", "shortest", "quarter", "median", "three quarters", "longest"], rows)


def evidence_table(corpus: str, examples: Sequence[Example]) -> str:
    """How many examples have marks on a side, how many marks, and which share of the words they cover."""
    rows = []
    for segment, side in enumerate(SIDES[corpus]):
        for label, of_label in _columns(corpus, examples).items():
            shares = [marked_share(example, segment) for example in of_label]
            counts = [sum(mark.segment == segment for mark in example.rationales) for example in of_label]
            marked = [share for share in shares if share]
            means = [f"{np.mean([n for n in counts if n]):.2f}", f"{np.mean(marked):.2f}"] if marked else ["-", "-"]
            rows.append([side, label, len(marked), f"{len(marked) / len(of_label):.2f}", *means])
    return markdown_table(["", "label", "with marks", "share with marks", "stretches each", "words marked"], rows)


def marked_share(example: Example, segment: int) -> float:
    """Which share of a segment's words, punctuation and emoji included, overlaps a mark."""
    words = text_units(example.segments[segment], "word")
    marks = [mark for mark in example.rationales if mark.segment == segment]
    inside = [any(start < mark.end and mark.start < end for mark in marks) for start, end in words]
    return sum(inside) / len(words)


def groups_table(examples: Sequence[Example]) -> str:
    """How large groups are, by how many words their texts differ, and what texts of different groups share."""
    groups = _sorted_into([one for one in examples if "group" in one.meta], lambda one: [group_of(one)])
    sizes = Counter(map(len, groups.values()))
    rows = [[f"groups of {size}", number] for size, number in sorted(sizes.items())]
    if groups and len(examples[0].segments) == 1:
        changed = [words_changed(*pair) for of_group in groups.values() for pair in combinations(of_group, 2)]
        rows += [["words changed, median", f"{np.median(changed):g}"], ["words changed, most", max(changed)]]
    shared = largest_overlap((group_of(one), text) for one in examples for text in one.segments)
    return markdown_table(["", ""], [*rows, [f"largest {N}-gram Jaccard between groups", f"{shared:.2f}"]])


def words_changed(one: Example, other: Example) -> int:
    """How many words of the one are not in the other, whatever their order: the larger of both directions."""
    first, second = (Counter(words_of(example.segments[0])) for example in (one, other))
    return max((first - second).total(), (second - first).total())


def largest_overlap(texts: Iterable[tuple[str, str]]) -> float:
    """The largest Jaccard similarity of two texts of different groups, counted in sequences of five words.

    texts: (group, text).
    """
    named = [(group, _word_sequences(text)) for group, text in dict.fromkeys(texts)]
    index: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, (_, sequences) in enumerate(named):
        for sequence in sequences:
            index[sequence].append(number)
    largest = 0.0
    for one, other in {pair for numbers in index.values() for pair in combinations(numbers, 2)}:
        (group, first), (another, second) = named[one], named[other]
        if group != another:
            largest = max(largest, len(first & second) / len(first | second))
    return largest


def _word_sequences(text: str) -> set[tuple[str, ...]]:
    words = words_of(text)
    return {tuple(words[start : start + N]) for start in range(len(words) - N + 1)}


def cues_table(corpus: str) -> str:
    """How often cues alone give the label, among all labels and between those that are not neutral."""
    parts = {part: load_examples(corpus, part) for part in ("train", "dev")}
    compared = {len(_classes(corpus)): parts}
    if "neutral" in _classes(corpus):
        opposed = {part: [one for one in examples if one.label != "neutral"] for part, examples in parts.items()}
        compared[len(_classes(corpus)) - 1] = opposed
    rows = [
        [
            name,
            n_labels,
            accuracy_on_dev(by_part["train"], by_part["dev"], cues),
            accuracy_in_folds(by_part["train"], cues),
        ]
        for n_labels, by_part in compared.items()
        for name, cues in CUES[corpus].items()
    ]
    return markdown_table(["what is seen", "labels", "dev", "train, in folds"], rows)


def _classes(corpus: str) -> tuple[str, ...]:
    return tuple(datasets.get(corpus).facts["classes"])


def _columns(corpus: str, examples: Sequence[Example]) -> Columns:
    by_label = {label: [one for one in examples if one.label == label] for label in _classes(corpus)}
    return {"all": list(examples)} | by_label


def _by_label(corpus: str, examples: Sequence[Example]) -> list[int]:
    return [len(column) for column in _columns(corpus, examples).values()]


def _sorted_into(examples: Sequence[Example], names: Callable[[Example], Iterable[str]]) -> Columns:
    columns: Columns = defaultdict(list)
    for example in examples:
        for name in names(example):
            columns[name].append(example)
    return columns


def filled(page: str) -> str:
    """The page with the facts of today between its markers."""
    begin = re.search(BEGIN.format(r"([\w ]+)"), page)
    _, end, after = page[begin.end() :].partition(END) if begin else ("", "", "")
    if not (begin and end):
        raise BadFile(
            f"The page needs the lines {BEGIN.format('pocket')} and {END}, in this order, where the numbers are to go."
        )
    return f"{page[: begin.end()]}\n\n" + "\n\n".join(map(facts, begin[1].split())) + f"\n\n{END}{after}"
