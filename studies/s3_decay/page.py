"""The study of penalties as a page, and how much less the penalised models hold as a picture."""

from collections.abc import Mapping

from studies.s3_decay.numbers import LISTED, MEASURES
from studies.shared.claims import ENOUGH_SEEDS, Claim, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

HEADINGS = {"information": "information", "kept": "pieces kept", "accuracy": "accuracy"}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    return (
        "# A penalty on the weights: does it leave less of the words?\n\n"
        f"Figure 4 of Guan et al. (2019). Transformers of three blocks, {about['width']} wide, learn from "
        f"{about['n_train']:,} sentences in {about['epochs']}\nepochs, with α times the sum of all squared weights in "
        f"the loss. `{about['method']}` says how much the state that the\nhead reads, the first token's in the last "
        f"layer, holds of each word of {about['n_explained']} test sentences; accuracy is over {about['n_test']:,}.\n\n"
        f"{not_run_yet(numbers['missing'])}{_table(numbers)}\n\n"
        "Information: nats, for one dimension of a word's embedding, added up over the words of a text. Kept: pieces "
        "of words\nwhose score is above log 10: they bear less noise than one standard deviation of the word "
        "embeddings. Intervals are t-intervals\nover training seeds in which texts are nested. Squares: the sum of all "
        f"squared weights. Settled: texts whose search for the\nnoise had settled. "
        f"{where_computed(numbers['machines'])}\n\n![Without a penalty, less with it](decay.svg)\n\n## The paper's "
        f"claims\n\nThe larger the penalty, the less is held, and the lower the accuracy. Below {ENOUGH_SEEDS} seeds "
        f"there is no verdict.\n\n{_claims(numbers)}## Words that a penalised model stopped "
        f"using\n\n{_words(numbers)}\n\nAgainst the model without a penalty, each word alone, at 95 %, for words of "
        f"three texts or more; over trainings.\n\n## What differs from the paper\n\n"
        "The paper shows one sentence and one training of each model. It does not say how long it trained, and Adam "
        "divides each\nweight's gradient by its size, so that a weight that no text moves shrinks at the full rate "
        "whatever α is: α alone does not\nsay how strong a penalty is. Noise and states are measured against the "
        "spread of words and states in each model, so a model\nwhose word vectors and states are only smaller has the "
        "same scores.\n"
    )


def claims_of(numbers: Numbers, measure: str) -> list[Claim]:
    """The claims about one measure."""
    return [claim_of(one) for one in numbers["claims"][measure]]


def _claims(numbers: Numbers) -> str:
    tables = (claims_table(claims_of(numbers, measure), unit) for measure, unit in MEASURES.items())
    return "".join(f"{table}\n" for table in tables)


def _table(numbers: Numbers) -> str:
    rows = [
        [
            weight,
            one["seeds"],
            *(_cell(one[measure]) for measure in MEASURES),
            f"{one['squares']:,.0f}",
            f"{one['settled']:.0%}",
        ]
        for weight, one in numbers["models"].items()
    ]
    head = ["α", "seeds", "information, nats a text", "pieces kept, %", "accuracy, %", "squares", "settled"]
    return markdown_table(head, rows)


def _cell(interval: Mapping[str, float]) -> str:
    return "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**interval)


def _words(numbers: Numbers) -> str:
    rows = [
        [
            one["l2"],
            one["n_words"],
            one["n_stopped"],
            one["n_more"],
            _listed(one["stopped"]),
            _listed(one["more"]),
        ]
        for one in numbers["changes"]
        if not one["why_not"]
    ]
    reasons = [f"No verdict for α = {one['l2']}: {one['why_not']}" for one in numbers["changes"] if one["why_not"]]
    head = ["α", "words", "stopped using", "uses more", f"the first {LISTED} of the former", "of the latter"]
    table = [markdown_table(head, rows)] if rows else []
    return "\n\n".join([*table, *reasons]) or "Only one model was run."


def _listed(words: list[list[object]]) -> str:
    return " ".join("`" + str(word).replace("`", "'").replace("|", "¦") + "`" for word, *_ in words) or "–"


def as_picture(numbers: Numbers) -> str:
    """How much more the model without a penalty holds than each of the others and the next weaker one, as SVG."""
    rows: list[str] = []
    panels = []
    for measure, unit in MEASURES.items():
        claims = claims_of(numbers, measure)
        pairs = [claim.words.partition(" with ")[2].replace(" than with ", " against ") for claim in claims]
        rows = rows or pairs
        intervals = {pair: claim.measured for pair, claim in zip(pairs, claims, strict=True)}
        panels.append(Panel(f"{HEADINGS[measure]}, {unit}", "the paper's side →", intervals))
    about = numbers["about"]
    foot = (
        f"{about['n_explained']} texts ({about['n_test']} of accuracy) × {about['seeds']} seeds; 95 % intervals, paired"
    )
    return interval_plot("More with the smaller penalty?", rows, panels, foot)
