"""Tables 2 and 4 to 6 as a page."""

from collections.abc import Sequence

from studies.s2_deletion.methods import TITLES
from studies.s2_words.paper import ENDS, TABLES
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

TABLE_OF = {"sst5": 2, "semeval": 4, "imdb": 5, "yelp5": 6}
BESIDE = ("the method", "random lists", "the rarest words")


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    names = "; ".join(f"{name}: {title}" for name, title in TITLES.items())
    sections = "\n\n".join(_section(numbers, task) for task in numbers["tasks"])
    return (
        "# Which words do methods score highest, and which lowest?\n\n"
        f"Tables 2, 4, 5 and 6 of Wu and Ong (2021). {names}.\n\n"
        f"{not_run_yet(numbers['missing'])}"
        "![Sentences of our own](sentences.svg)\n\n"
        f"{sections}\n\n"
        "## How to read it\n\n"
        "Means of a word's scores, each text's divided by the largest among them, of words that occur five times or "
        "more, without\npunctuation ([A2.10](../../docs/papers/corrections.md#a210)). The words are those of the first "
        "seed; the last column says how\nmany of the five all seeds have. The paper counts word pieces, so its lists "
        "have parts of words. It tests no claim about the\nlists. Whether classes have words of their own is ours: the "
        "share of words that the lists of two classes have in common, beside\nrandom lists and lists of the rarest "
        "words, as intervals over seeds; a method that picks words at random shares few as well.\n"
    )


def words_table(numbers: Numbers, task: str) -> str:
    """The highest and the lowest words, ours and the paper's."""
    lists = numbers["tasks"][task]["words"]
    rows = [
        [name, end, _listed(of[end]["words"]), _paper(task, name, ENDS.index(end)), _common(of[end])]
        for end in ENDS
        for name, of in lists.items()
    ]
    return markdown_table(["method", "", "here", "paper", "all seeds"], rows)


def overlap_table(numbers: Numbers, task: str) -> str:
    """The share of words that classes have in common."""
    overlaps = numbers["tasks"][task]["overlap"]
    rows = [
        [name, *(_share(of[beside]) if beside in of else "–" for beside in BESIDE)] for name, of in overlaps.items()
    ]
    return markdown_table(["common words of two classes", *BESIDE], rows) if rows else ""


def _section(numbers: Numbers, task: str) -> str:
    about = numbers["about"]["tasks"][task]
    heading = f"## {about['title']} (table {TABLE_OF[task]})\n\n{about['n_texts']:,} test texts."
    return f"{heading}\n\n{words_table(numbers, task)}\n\n{overlap_table(numbers, task)}".strip()


def _listed(rows: Sequence[Numbers]) -> str:
    """Words without marks that a table would read as its own."""
    return ", ".join(row["word"].replace("|", "\\|").replace("*", "\\*").replace("_", "\\_") for row in rows)


def _paper(task: str, name: str, end: int) -> str:
    lists = TABLES[task].get(name)
    return ", ".join(lists[end].split()) if lists else "–"


def _common(of: Numbers) -> str:
    return f"{of['common']} of {len(of['words'])}" if of["seeds"] > 1 else "one seed"


def _share(one: Numbers) -> str:
    value = one["value"]
    if one["seeds"] < 2:
        return f"{value['mean']:.0%}"
    return "{mean:.0%} [{low:.0%}, {high:.0%}]".format(**value)
