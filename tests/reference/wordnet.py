"""WordNet's files read slowly and literally, line by line from the start, as wndb(5WN) and morphy(7WN) say."""

from pathlib import Path

FILES = {"noun": "noun", "verb": "verb", "adjective": "adj", "adverb": "adv"}


def rows(folder, name):
    """The lines of a file, as columns, without the licence."""
    for line in (Path(folder) / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):
            yield line.split(" | ")[0].split()


def senses(folder, word, part_of_speech):
    """[(address, words)] of a word, in the order of the index."""
    name = FILES[part_of_speech]
    index = next((row for row in rows(folder, f"index.{name}") if row[0] == word), None)
    if index is None:
        return []
    wanted = index[len(index) - int(index[2]) :]
    words = {row[0]: row[4 : 4 + 2 * int(row[3], 16) : 2] for row in rows(folder, f"data.{name}") if row[0] in wanted}
    return [(address, [one.split("(")[0] for one in words[address]]) for address in wanted]


def direct_antonyms(folder, word, part_of_speech):
    """The words that a pointer "!" leads to from this very word."""
    name = FILES[part_of_speech]
    data = {row[0]: row for row in rows(folder, f"data.{name}")}
    antonyms = set()
    for address, words in senses(folder, word, part_of_speech):
        row = data[address]
        pointers = row[5 + 2 * len(words) :]
        for first in range(0, 4 * int(row[4 + 2 * len(words)]), 4):
            symbol, other, _, ends = pointers[first : first + 4]
            if symbol == "!" and words[int(ends[:2], 16) - 1].lower() == word:
                antonyms.add(data[other][4 + 2 * (int(ends[2:], 16) - 1)].split("(")[0].lower())
    return antonyms


def base_forms(folder, form, part_of_speech):
    """The exceptions of a form or, where it has none, every ending exchanged; those that the index has."""
    name = FILES[part_of_speech]
    index = {row[0] for row in rows(folder, f"index.{name}")}
    bases = [row[1:] for row in rows(folder, f"{name}.exc") if row[0] == form]
    rules = {
        "noun": "s- ses-s ves-f xes-x zes-z ches-ch shes-sh men-man ies-y",
        "verb": "s- ies-y es-e es- ed-e ed- ing-e ing-",
        "adjective": "er- est- er-e est-e",
        "adverb": "",
    }[part_of_speech]
    pairs = [rule.split("-") for rule in rules.split()]
    ruled = [form[: -len(old)] + new for old, new in pairs if form.endswith(old)]
    return list(dict.fromkeys(one for one in [form, *(bases[-1] if bases else ruled)] if one in index))
