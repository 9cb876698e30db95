"""The study of trainings as a page."""

from studies.s3_accuracy.models import PAPER_NAMES, TITLES
from studies.s3_training.numbers import UNITS
from studies.shared.claims import ENOUGH_SEEDS, Claim, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    tables = "".join(f"{claims_table(claims_of(numbers, unit), words)}\n" for unit, words in UNITS.items())
    return (
        "# What the layers hold while a model is trained\n\n"
        f"Figure 9 of Guan et al. (2019). {about['n_train']:,} texts to learn from; every {about['every']} steps "
        f"`{about['method']}` reads each layer's\nstates, of all tokens side by side, in {about['watched']} dev "
        f"texts.\n\n"
        f"{not_run_yet(numbers['missing'])}![Nats a text by step, a line a layer](training.svg)\n\n"
        f"## The paper's claims\n\nBelow {ENOUGH_SEEDS} seeds there is no verdict. A peak is each seed's, chosen on "
        f"every second text and measured on the others.\nChange: how far later looks are from the first one, on "
        f"average, in percent of the first; of the two models over the\nsteps at which both were looked at.\n\n{tables}"
        + "".join(f"## {TITLES[name]}\n\n{_model(numbers, name)}\n\n" for name in numbers["models"])
        + "Nats: for one dimension of a word's embedding, added up over the pieces of a text without special tokens; "
        "means over texts\nand seeds, of the first and the last look with 95 % t-intervals over seeds in which texts "
        f"are nested. Layer 0 is the word\nvectors. {where_computed(numbers['machines'])}\n\n"
        "## What differs from the paper\n\n"
        f"MiniLM stands for BERT, and the BiLSTM is {about['width']} wide. At each look noise and states are measured "
        f"against their spread in the\nmodel as it is then, so that word vectors and states that only grow or shrink "
        f"change no number; the paper does not say what it did. The paper\nshows one training of each model, without "
        f"intervals.\n"
    )


def claims_of(numbers: Numbers, unit: str) -> list[Claim]:
    """The claims in one unit."""
    return [claim_of(one) for one in numbers["claims"][unit]]


# Why so few are counted as settled.
LUCK_COUNTS = " With one seed of noise the luck of its draws counts as drift, so few searches are called settled."


def _model(numbers: Numbers, name: str) -> str:
    """One model's nats: a row a layer, a column a look."""
    one, last = numbers["models"][name], len(numbers["models"][name]["steps"]) - 1
    rows = []
    for layer, title in enumerate(one["layers"]):
        cells = [
            _cell(one["ends"][0 if look == 0 else 1][layer]) if look in (0, last) else f"{nats[layer]:.1f}"
            for look, nats in enumerate(one["nats"])
        ]
        rows.append([title, *cells, f"{one['change'][layer - 1]:.1f} %" if layer else "–"])
    head = ["layer", *(f"step {step}" for step in one["steps"]), "change"]
    about = (
        f"{one['seeds']} seed{'' if one['seeds'] == 1 else 's'}, {numbers['about']['epochs'][name]} epochs; the "
        f"paper's {PAPER_NAMES[name]}. Accuracy of the best epoch on dev: {one['dev']:.1f} %. Searches that had "
        f"settled: {one['settled']:.0%}.{LUCK_COUNTS if numbers['about']['settings']['n_seeds'] == 1 else ''}"
    )
    return f"{about}\n\n{markdown_table(head, rows)}"


def _cell(interval: dict[str, float]) -> str:
    return "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**interval)
