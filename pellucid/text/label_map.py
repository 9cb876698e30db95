"""Labels of data beside the classes of a model: which labels fit no class, and which class each of them probably
means.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pellucid.base.checks import clipped, in_syntax, listed, quoted
from pellucid.base.errors import BadInput, BadSetting
from pellucid.text.example import Example

LabelMap = Mapping[str, str]  # label -> class

# Words of several languages for one class.
SAME = tuple(
    frozenset(words.split())
    for words in (
        "negative neg negativ negativo negativa négatif négative negatief negatywny negativní negatív olumsuz bad "
        "schlecht mauvais malo 负面 消极 負面 ネガティブ 否定 부정 отрицательный негативный سلبي नकारात्मक -",
        "neutral neu neutre neutro neutra neutraal neutralny neutrální semleges nötr mixed 中性 中立 ニュートラル 중립 "
        "нейтральный محايد तटस्थ",
        "positive pos positiv positivo positiva positif pozitif positief pozytywny pozitivní pozitív olumlu good gut "
        "bon bueno 正面 积极 積極 ポジティブ 肯定 긍정 положительный позитивный إيجابي सकारात्मक +",
        "no false n nein non nej nee não нет 否 いいえ 아니요",
        "yes true y ja oui sí si sim да 是 はい 예",
        "contradiction contradictory contradict widerspruch contradicción",
        "entailment entails entailed entail folgerung implication implicación",
        "ham legitimate",
        "spam junk",
    )
)
RANKED = SAME[:3]  # from bad to good, as stars and numbers go
NUMBER = re.compile(r"(?:(?:label|class|klasse|classe|clase)[\s_-]*)?(-?\d+)(?:\.0+)?(?:[\s_-]*(?:stars?|sterne?))?")
MOST_SHOWN = 12  # labels of a suggested map
ON = 0.5  # the probability from which a text has a label, where it can have several


def label_names(label: str | None, several: bool = False) -> tuple[str, ...]:
    """The names in a label: one, none, or, where a text can have several labels, those between its commas."""
    if label is None:
        return ()
    return tuple(name.strip() for name in label.split(",") if name.strip()) if several else (label,)


def unmatched_labels(examples: Iterable[Example], classes: Sequence[str], several: bool = False) -> dict[str, int]:
    """Each label that is no class of the model -> how many examples have it; several: labels are names between
    commas.
    """
    counts = Counter(name for example in examples for name in label_names(example.label, several))
    return {label: count for label, count in sorted(counts.items()) if label not in classes}


def with_label_map(
    examples: Iterable[Example], label_map: LabelMap, classes: Sequence[str], several: bool = False
) -> tuple[Example, ...]:
    """The examples under the classes' names; labels that the map does not name stay as they are.

    Raises `BadSetting` for a map that leads to no class, `BadInput` where a label neither is in the map nor is a class.
    """
    label_map = checked_map(label_map, classes)
    examples = tuple(_renamed(example, label_map, several) for example in examples)
    if strange := unmatched_labels(examples, classes, several):
        raise BadInput(
            f"{_name()} says nothing of the labels {listed(strange)}, which are no classes; add them, each with one of "
            f"{listed(classes)}."
        )
    return examples


def renamed(examples: Iterable[Example], label_map: LabelMap) -> tuple[Example, ...]:
    """The examples under the map's own classes, those that it leads to."""
    if not isinstance(label_map, Mapping):
        raise BadSetting(f"label_map={quoted(label_map)} is no mapping; write {{'a label': 'a class'}}.")
    return with_label_map(examples, label_map, tuple(dict.fromkeys(map(str, label_map.values()))))


def checked_map(label_map: LabelMap, classes: Sequence[str]) -> dict[str, str]:
    """The map with labels as strings; raises `BadSetting` for anything but a mapping to classes."""
    if not isinstance(label_map, Mapping):
        raise BadSetting(f"label_map={quoted(label_map)} is no mapping; write {_written({'a label': classes[0]})}.")
    plain = {str(label): name for label, name in label_map.items()}
    for label, name in plain.items():
        if name not in classes:
            raise BadSetting(
                f"{_name()} leads from {quoted(label)} to {quoted(name)}, which is no class; give one of "
                f"{listed(classes)}."
            )
    return plain


def _renamed(example: Example, label_map: LabelMap, several: bool) -> Example:
    if example.label is None:
        return example
    names = [label_map.get(name, name) for name in label_names(example.label, several)]
    return replace(example, label=", ".join(names)) if names else example


def suggested_map(labels: Iterable[str], classes: Sequence[str]) -> dict[str, str]:
    """Label -> the class that it probably means: another case or language of its name, its number, or a number of
    stars.

    labels: all labels of the data, in any order; classes, and labels without a probable class, are left out.
    """
    strange = [label for label in dict.fromkeys(labels) if label not in classes]
    by_name = {label: name for label in strange if (name := _alike(label, classes)) is not None}
    rest = [label for label in strange if label not in by_name]
    by_number = _by_number(rest, classes) if not by_name else {}
    return {label: (by_name | by_number)[label] for label in strange if label in by_name | by_number}


def _alike(label: str, classes: Sequence[str]) -> str | None:
    """The one class that has the label's name in another case, spelling or language."""
    plain = _plain(label)
    same = [name for name in classes if _plain(name) == plain]
    meaning = next((words for words in SAME if plain in words), frozenset[str]())
    same = same or [name for name in classes if _plain(name) in meaning]
    return same[0] if len(same) == 1 else None


def _plain(name: str) -> str:
    plain = re.sub(r"[\s_-]+", " ", name.casefold()).strip()
    return plain or name.strip()


def _number(label: str) -> int | None:
    match = NUMBER.fullmatch(label.strip().casefold())
    return int(match[1]) if match and len(match[1]) < 9 else None


def _by_number(labels: Sequence[str], classes: Sequence[str]) -> dict[str, str]:
    """All labels by their numbers, or nothing where one has no number or the numbers do not say which class is
    meant.
    """
    numbers = {label: value for label in labels if (value := _number(label)) is not None}
    if not labels or len(numbers) < len(labels):
        return {}
    named = {value: name for name in classes if (value := _number(name)) is not None}
    present = set(numbers.values())
    if len(named) == len(classes):
        by_value = named if present <= named.keys() else {}
    elif present <= set(range(len(classes))):
        by_value = dict(enumerate(classes))
    else:
        by_value = _in_order(sorted(present), classes)
    return {label: by_value[value] for label, value in numbers.items() if value in by_value}


def _in_order(numbers: Sequence[int], classes: Sequence[str]) -> dict[int, str]:
    """Numbers as marks from bad to good: as many as classes, or one to five stars for two or three classes."""
    ranked = _ranked(classes)
    if not ranked:
        return {}
    are_stars = set(numbers) <= set(range(1, 6)) and len(ranked) in (2, 3)
    if len(numbers) == len(ranked) and not (are_stars and numbers[-1] > 3):  # 2, 4 and 5 are stars
        return dict(zip(numbers, ranked, strict=True))
    if are_stars:
        middle = {3: ranked[1]} if len(ranked) == 3 else {}
        stars = {1: ranked[0], 2: ranked[0], 4: ranked[-1], 5: ranked[-1]} | middle
        return {mark: stars[mark] for mark in numbers if mark in stars}
    return {}


def _ranked(classes: Sequence[str]) -> list[str]:
    """The classes from bad to good; empty where their names do not say so."""
    ranks = {name: rank for name in classes for rank, words in enumerate(RANKED) if _plain(name) in words}
    known = len(ranks) == len(classes) and len(set(ranks.values())) == len(classes)
    return sorted(classes, key=ranks.__getitem__) if known else []


def label_caution(examples: Sequence[Example], classes: Sequence[str], several: bool = False) -> str:
    """One sentence on labels that are no classes, with a label map where the probable classes are known; empty where
    all fit.
    """
    strange = unmatched_labels(examples, classes, several)
    if not strange:
        return ""
    count, names = sum(strange.values()), listed(strange)
    labels = f"{count:,} of {len(examples):,} texts have labels that are no classes of the model ({names})"
    return f"{labels}; its classes are {listed(classes)}. {_advice(strange, classes)}"


def _advice(strange: Mapping[str, int], classes: Sequence[str]) -> str:
    likely = suggested_map(strange, classes)
    if not likely or len(likely) > MOST_SHOWN:
        example = {clipped(next(iter(strange))): classes[0]}
        return f"Say which class each label means, such as {_written(example)}."
    rest = [label for label in strange if label not in likely]
    more = f", and say which class is meant by {listed(rest)}" if rest else ""
    return f"If they mean the same, write {_written(likely)}{more}."


def _name() -> str:
    return in_syntax("label_map", "--label-map")


def _written(label_map: LabelMap) -> str:
    """A map as Python writes it, or as the option of the command line; there a comma in a name is written \\,."""
    pairs = (f"{label}={name}".replace(",", "\\,") for label, name in label_map.items())
    return in_syntax(f"label_map={dict(label_map)}", f'--label-map "{",".join(pairs)}"')
