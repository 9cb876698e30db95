"""Table 1 and figure 3 as a page."""

from studies.s2_agreement.numbers import OVER, STRONG, TABLE_1
from studies.s2_deletion.methods import CHANCE, TITLES
from studies.shared.claims import ENOUGH_SEEDS, Claim, claim_of, claims_table
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

UNIT = "hundredths"
KINDS = {"type": "word types", "token": "tokens"}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    names = "; ".join(f"{name}: {title}" for name, title in TITLES.items())
    blocks = "\n".join(
        f"### Over {KINDS[over]}\n\n{seeds_table(numbers, over)}\n\n"
        f"{claims_table(claims_of(numbers, f'seeds, {over}'), UNIT)}"
        for over in OVER
    )
    return (
        "# Do explanations agree across trainings, and across data sets?\n\n"
        f"Table 1 and figure 3 of Wu and Ong (2021). {names}.\n\n"
        f"{not_run_yet(numbers['missing'])}"
        f"## Two trainings\n\n{_texts(numbers)}\n\n{blocks}\n"
        f"## Four data sets\n\n{_words(numbers)}\n\n![Correlations of words' scores](corpora.svg)\n\n"
        f"{grid_table(numbers)}\n\n{claims_table(claims_of(numbers, 'corpora'), UNIT)}\n"
        "## How to read it\n\n"
        "Pearson's correlation of words' scores, each text's divided by the largest among them. A type is a word form "
        "under the class\nthat is explained, as in the released code; tokens are the stricter question "
        "([A2.11](../../docs/papers/corrections.md#a211)).\nTexts that the other training answers otherwise are left "
        "out. Intervals are over training seeds, in which texts are nested; two\nseeds share a training with two "
        f"others, so their spread is a jackknife's, and of two seeds it is over texts alone. Below\n{ENOUGH_SEEDS} "
        f"seeds there is no verdict. What a strong correlation is, the paper does not say; here it is "
        f"{STRONG}.\n\n**Agreement is no evidence of truth.** The row “{CHANCE}” shows it: random scores depend on the "
        f"text alone, so they agree\nperfectly with themselves under every training.\n"
    )


def seeds_table(numbers: Numbers, over: str) -> str:
    """Table 1: each method on each data set; ours, and the paper's over word types."""
    names = list(dict.fromkeys(name for of in numbers["seeds"].values() for name in of[over]))
    rows = [[name, *(_cell(numbers, task, over, name) for task in numbers["seeds"])] for name in names]
    return markdown_table(["method", *(numbers["about"]["tasks"][task]["title"] for task in numbers["seeds"])], rows)


def grid_table(numbers: Numbers) -> str:
    """Figure 3: each method on each pair of data sets."""
    corpora, tasks = numbers["corpora"], numbers["about"]["tasks"]
    if not corpora:
        return "Not run yet."
    pairs = list(next(iter(corpora.values())))
    heads = [", ".join(tasks[task]["title"] for task in pair.split()) for pair in pairs]
    rows = [[name, *(_shown(of[pair]["value"]) for pair in pairs)] for name, of in corpora.items()]
    return markdown_table(["method", *heads], rows)


def claims_of(numbers: Numbers, of: str) -> list[Claim]:
    """The claims with their verdicts."""
    return [claim_of(one) for one in numbers["claims"][of]]


def _cell(numbers: Numbers, task: str, over: str, name: str) -> str:
    one = numbers["seeds"][task][over].get(name)
    if one is None:
        return "–"
    paper = TABLE_1[task].get(name) if over == "type" else None
    return _shown(one["value"]) + ("" if paper is None else f"<br>{paper:.2f}")


def _texts(numbers: Numbers) -> str:
    listed = ", ".join(f"{one['title']} {one['n_texts']:,} texts" for one in numbers["about"]["tasks"].values())
    return f"{listed}. Below ours stands the paper's number."


def _words(numbers: Numbers) -> str:
    """How many words all data sets have in common."""
    counts = [one["n"] for of in numbers["corpora"].values() for one in of.values()]
    common = f"{counts[0]:,} word forms occur in all of them. " if counts else ""
    return f"{common}Each data set is explained by its own model; sizes of scores are correlated, since classes differ."


def _shown(value: Numbers) -> str:
    return "{mean:.2f} [{low:.2f}, {high:.2f}]".format(**value)
