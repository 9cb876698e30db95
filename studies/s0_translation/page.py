"""The page of the translators."""

from pellucid.base.checks import percent
from pellucid.results.bootstrap import NOT_NEGATIVE, PERCENT, t_interval
from studies.s0_translation.judging import EVERY
from studies.s0_translation.summary import LAYERS
from studies.shared.claims import ENOUGH_SEEDS, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

NAMES = {
    "plain": "plain",
    "span": "spans",
    "half": "spans, λ = 0.5",
    "one": "spans, λ = 1",
    "entropy": "spans, entropy 0.1",
    "uniform": "spans, equal weights",
    "static": "spans, one query",
    "unscaled": "spans, unscaled",
    "unscaled_entropy": "spans, unscaled, entropy 0.1",
    "unscaled_static": "spans, unscaled, one query",
}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, claims = numbers["about"], [claim_of(one) for one in numbers["claims"]]
    network = about["network"]
    return (
        f"# {about['title']}: a translator with spans of its source, and its plain "
        f"twin\n\nTable 2 of Sun and others (2020): 28.4 and 28.9 BLEU on IWSLT14. Here English to German, "
        f"{about['n_train']:,} pairs, {about['epochs']} epochs, {network['layers']} + {network['layers']} layers "
        f"{network['width']} wide, {about['pieces']:,} joint pieces, beam {about['beam']}.\nThe layer is [our "
        f"reading](../../../docs/papers/corrections.md#a016).\n\n{not_run_yet(numbers['missing'])}{_scores(numbers)}\n\n"
        "BLEU with the "
        f"signature `{numbers['signature']}`; with several seeds the mean and its t-interval over trainings.\n\n"
        f"## Does it help?\n\nIntervals are over seeds and sentences. Below {ENOUGH_SEEDS} seeds there is no "
        f"verdict.\n\n{claims_table(claims, 'BLEU') if claims else 'It could not be tested.'}\n"
        f"## What the spans carry\n\n{_spans(numbers)}\n\nOver the words of {about['explained']} dev references. "
        f"Effective spans: 1 / sum of squared weights, the median. Carried: the share of a word's lead over the next "
        f"likeliest{_of_first(numbers)} that went through the spans, the median over words that lead; little: the "
        f"share of those words with less than a quarter.\n\n{where_computed(numbers['machines'])}\n\n## First "
        f"translations\n\n{_first(numbers)}\n"
    )


def _scores(numbers: Numbers) -> str:
    rows = [
        [
            NAMES[name],
            len(of["dev_loss"]),
            *(_interval(of["tests"][test]["bleu"]) for test in numbers["about"]["tests"]),
            _interval(of["dev_loss"], 3),
        ]
        for name, of in numbers["variants"].items()
    ]
    return markdown_table(["model", "seeds", *numbers["about"]["tests"], "dev loss"], rows)


def _interval(values: list[float], digits: int = 1) -> str:
    interval = t_interval(values, PERCENT if digits == 1 else NOT_NEGATIVE)  # BLEU, or a loss
    if len(values) < 2:
        return f"{interval.mean:.{digits}f}"
    return f"{interval.mean:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def _spans(numbers: Numbers) -> str:
    rows = [
        [
            NAMES[name],
            seed,
            one["words"],
            "–" if one["effective_spans"] is None else f"{one['effective_spans']:.1f}",
            "–" if one["carried"] is None else percent(one["carried"]),
            "–" if one["little"] is None else percent(one["little"]),
        ]
        for name, of in numbers["variants"].items()
        for seed, one in enumerate(of["spans"])
    ]
    return markdown_table(["model", "seed", "words", "effective spans", "carried", "little"], rows)


def _of_first(numbers: Numbers) -> str:
    every = [one for of in numbers["variants"].values() for one in of["spans"]]
    return "" if all(one.get("pieces") == EVERY for one in every) else ", at its first piece,"


def _first(numbers: Numbers) -> str:
    shown = next((name for name in (*LAYERS, "plain") if name in numbers["variants"]), None)
    if shown is None:
        return "None."
    rows = [[one.replace("|", "\\|") for one in pair] for pair in numbers["variants"][shown]["first"]]
    return markdown_table([f"source ({NAMES[shown]}, seed 0)", "translation"], rows)
