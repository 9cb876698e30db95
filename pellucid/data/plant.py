"""Plants a known reason in texts, and a decoy: a word that often goes with the label but decides nothing.

Bastings et al. (2022), "Will You Find These Shortcuts?"; Zhou et al. (2022), "Do Feature Attribution Methods Correctly
Attribute Features?". Each carrier text is used for both labels in turn, so its own words say nothing about the label.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from pellucid.base.catalogue import Call
from pellucid.base.checks import at_least, between, of_kind, one_of
from pellucid.base.errors import BadInput
from pellucid.base.kinds import datasets
from pellucid.data.load import load_examples
from pellucid.data.reasons import Insertion, gaps_in, insert_words, occurrences
from pellucid.data.shared.part_files import SHARES, split_parts
from pellucid.text.example import Example, Rationale, as_examples

Segments = tuple[str, ...]
CLASSES = ("no", "yes")
PARTS = {"train": 1.0, "dev": 0.2, "test": 0.2}  # how many texts, for each text to train on
# How often decoy and label agree in dev and test: a model that follows the decoy fails there.
AS_OFTEN_AS_NOT = 0.5


@dataclass(frozen=True)
class Kit:
    """A reason with its made-up words.

    decoys: the word that goes with "no" and the one that goes with "yes"; empty where no decoys are planted.
    """

    reason: Call
    words: Sequence[str]
    decoys: Sequence[str] = ()


def plant(
    carriers: Mapping[str, Sequence[Example]], reason: Call, *, n: int, distractor: float | None, seed: int
) -> dict[str, list[Example]]:
    """Plant a reason in n train texts and a fifth as many of dev and test, half of them of each label.

    distractor: share of a label's train texts that have its own decoy word; the others have the other label's decoy.
    None plants no decoys. Raises `BadInput` for a part without carriers, a text too short, or too few made-up words.
    """
    at_least("n", of_kind("n", n, int), 10)
    if distractor is not None:
        between("distractor", of_kind("distractor", distractor, float), 0.0, 1.0)
    count = reason.entry.facts["words"]
    words = made_up_words([example for part in carriers.values() for example in part], count + len(CLASSES))
    kit = Kit(reason, words[:count], words[count:] if distractor is not None else ())
    rates = dict.fromkeys(PARTS, AS_OFTEN_AS_NOT) | ({} if distractor is None else {"train": distractor})
    return {
        part: _part(kit, carriers[part], part, size=round(n * size), rate=rates[part], seed=seed)
        for part, size in PARTS.items()
    }


def _part(kit: Kit, carriers: Sequence[Example], part: str, *, size: int, rate: float, seed: int) -> list[Example]:
    """The examples of one part; rate: how often decoy and label agree."""
    if not carriers:
        raise BadInput(f"The {part} part has no text to plant in; give more texts, or a folder with all parts.")
    draw = Random(f"{seed} {kit.reason.title} {part}")
    order = draw.sample(carriers, len(carriers))
    agree = [_shuffled_share(size // 2 + (size % 2 and not yes), rate, draw) for yes in (False, True)]
    examples = []
    for index in range(size):
        pair, yes = divmod(index, 2)
        decoy = yes if agree[yes][pair] else 1 - yes
        carrier = order[pair % len(order)]
        examples.append(planted(kit, carrier, bool(yes), draw, id=f"{part}-{index}", decoy=decoy))
    return examples


def _shuffled_share(count: int, share: float, draw: Random) -> list[bool]:
    """`count` truth values in random order, of which this share, rounded, is True."""
    flags = [index < round(share * count) for index in range(count)]
    draw.shuffle(flags)
    return flags


def planted(kit: Kit, carrier: Example, yes: bool, draw: Random, *, id: str, decoy: int = 0) -> Example:
    """The carrier with the reason for a label; its edited versions stand in `meta`.

    decoy: which of the kit's decoys it gets, where there are any. Raises `BadInput` where the carrier is too short.
    """
    texts, redecoyed = _with_decoys(kit, carrier.segments, draw, decoy)
    try:
        planting = kit.reason(gaps_in(texts), kit.words, yes, draw)
    except BadInput as error:
        raise BadInput(f"The text {carrier.id!r} cannot carry {kit.reason.title}: {error}") from None
    example = _labelled(texts, planting.insertions, yes)
    meta: dict[str, object] = {"reason": kit.reason.title, "carrier": carrier.id}
    meta["counterfactual"] = as_row(_labelled(texts, planting.edited, not yes))
    if kit.decoys:
        marks = occurrences(example.segments, [kit.decoys[decoy]])
        meta["distractors"] = [[mark.segment, mark.start, mark.end] for mark in marks]
        meta["distractor_edit"] = as_row(_labelled(redecoyed, planting.insertions, yes))
    return replace(example, id=id, meta=meta)


def _with_decoys(kit: Kit, texts: Segments, draw: Random, decoy: int) -> tuple[Segments, Segments]:
    """The texts with one decoy, and with the other decoy in its place. Decoys go in first: reasons count them as
    words.
    """
    if not kit.decoys:
        return texts, texts
    gap = draw.choice(gaps_in(texts))
    with_decoy, with_other_decoy = (
        insert_words(texts, [Insertion(gap, kit.decoys[which])]) for which in (decoy, 1 - decoy)
    )
    return with_decoy, with_other_decoy


def _labelled(texts: Segments, insertions: Sequence[Insertion], yes: bool) -> Example:
    whole = insert_words(texts, insertions)
    return Example(
        whole,
        CLASSES[yes],
        occurrences(whole, [insertion.words for insertion in insertions if insertion.causes]),
    )


# A shortcut: words that only texts of one class have, beside what decides their labels.


def with_shortcut(examples: Iterable[Example], words: str, label: str, share: float, *, seed: int) -> list[Example]:
    """The examples, with words at the end of this share of the texts of a class, drawn one by one.

    words: such as "zx" or "Sent from my phone", written after a blank. Marks of people are left out, as they do not
    know of them. Raises `BadSetting` for a share outside 0 to 1.
    """
    between("share", share, 0.0, 1.0)
    draw = Random(f"{seed} shortcut")
    return [
        replace(example, segments=(*example.segments[:-1], f"{example.segments[-1]} {words}"), rationales=())
        if example.label == label and draw.random() < share
        else example
        for example in examples
    ]


# Made-up words that no text of a corpus has: only planting can connect them with a label.

WORDS = (
    "blicket wug dax fep zorple snerf mibbit plonkle frabbet quonk tupin glimf vasp brindor trupple lomick nurvel "
    "sklee drimp fazzen jullip kreeb lurvin mosket norvel oddim praffle quessit rimbo sorvit tazzle ulgo vimmer "
    "wexel yoffer zibber brelk chonder dreffin elvick flumpet gorrick hespin ibrel jorvet kimbert lannock murple "
    "nibbick ostle pimmet rastle smerk thrundle umbrit"
).split()


def made_up_words(examples: Iterable[Example], count: int) -> list[str]:
    """The first `count` made-up words that no text has, in capitals or not; raises `BadInput` where too few are
    left.
    """
    present = {
        word for example in examples for text in example.segments for word in re.findall(r"\w+", text.casefold())
    }
    free = [word for word in WORDS if word not in present]
    if len(free) < count:
        raise BadInput(
            f"The texts hold {len(WORDS) - len(free)} of our {len(WORDS)} made-up words, and {count} are needed: "
            "was something planted in them before? Give the texts as they were."
        )
    return free[:count]


# The edited versions of a planted example; it carries them in `meta`, as plain values.

EDITS = ("counterfactual", "distractor_edit")  # another reason, same decoy; another decoy, same reason


def as_row(example: Example) -> dict[str, object]:
    """A text or a pair, its label and its reason, in the fields of JSON lines."""
    ends = _ends(len(example.segments))
    texts = {f"text{end}": text for end, text in zip(ends, example.segments, strict=True)}
    evidence = {
        f"evidence{end}": [[mark.start, mark.end] for mark in example.rationales if mark.segment == segment]
        for segment, end in enumerate(ends)
    }
    return {**texts, "label": example.label, **evidence}


def edited(examples: Sequence[Example], edit: str) -> list[Example]:
    """The edited version of each planted example; edit: "counterfactual" or "distractor_edit".

    Raises `BadInput` for an example that carries none.
    """
    one_of("edit", edit, EDITS)
    missing = [example.id for example in examples if edit not in example.meta]
    if missing:
        raise BadInput(
            f"{len(missing)} examples (first: {missing[0]!r}) carry no {edit}; give texts that pellucid.plant made."
        )
    return [_from_row(example.meta[edit], len(example.segments), f"{example.id}-{edit}") for example in examples]


def _from_row(row: Mapping[str, Any], segments: int, id: str) -> Example:
    """The example that `as_row` wrote; the row's fields depend on the number of its texts."""
    ends = _ends(segments)
    marks = [Rationale(segment, *mark) for segment, end in enumerate(ends) for mark in row[f"evidence{end}"]]
    return Example(tuple(row[f"text{end}"] for end in ends), row["label"], tuple(marks), id)


def _ends(segments: int) -> tuple[str, ...]:
    """How the fields' names end: "text" and "evidence" for one text, "text_a", "text_b" and so on for a pair."""
    return ("",) if segments == 1 else ("_a", "_b")


# The texts to plant in, part by part; no text is in two parts.


def carrier_parts(source: str | Path | Iterable[object]) -> dict[str, list[Example]]:
    """The parts of a data set or a folder as they are; one file, or a list of texts, is cut into 70, 15 and 15 %.

    A text that occurs again, in the same part or another, is left out.
    """
    if not isinstance(source, str | Path):
        whole = as_examples(source)
    elif Path(source).is_file() and str(source) not in datasets.names():
        whole = tuple(load_examples(source))
    else:
        return _each_once({part: load_examples(source, part) for part in SHARES})
    return _each_once(split_parts(whole))


def _each_once(parts: dict[str, list[Example]]) -> dict[str, list[Example]]:
    seen: set[tuple[str, ...]] = set()
    once: dict[str, list[Example]] = {}
    for part, examples in parts.items():
        once[part] = []
        for example in examples:
            if example.segments not in seen:
                seen.add(example.segments)
                once[part].append(example)
    return once
