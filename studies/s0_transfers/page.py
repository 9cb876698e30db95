"""The transfers of T4 as a page, with the paper's numbers beside."""

from collections.abc import Mapping, Sequence

from pellucid.evidence.transfers import WAYS
from studies.s0_transfers.numbers import BLIND, OURS, PAPER, PAPER_SNLI, RIVALS
from studies.shared.claims import ENOUGH_SEEDS, weighed
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import models_with_seeds, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, rows = numbers["about"], numbers["rows"]
    main = {name: row for name, row in rows.items() if name in (OURS, *RIVALS)}
    modes = {name: row for name, row in rows.items() if name not in main}
    snli = about["data"] == "snli"
    paper, task = (PAPER_SNLI, "SNLI") if snli else (PAPER, "SST-5")
    return (
        f"# Transfers: can the spans stand for the text? {about['data']}\n\n"
        f"{about['encoder']}, {about['epochs']} epochs, {about['seeds']} seeds, {numbers['texts']} test texts; the "
        f"epoch is chosen on dev.\n\n"
        "F: full texts, S: spans; the first letter is what a plain model was trained on, the second what it was tested "
        "on.\nPoints of accuracy with 95 % t-intervals over seeds in which texts are nested (with one seed: over texts "
        f"alone);\nbeside them, in brackets, table 4 of the paper (RoBERTa, {task}). Trained and tested on full texts "
        f"(F-F): **{_cell(numbers['F-F'])}**.\nThe models themselves, on full texts: {_models(numbers['models'])}.\n"
        "Labels are in alphabetical order; the head's first weights go by it, so these are other trainings than table "
        f"1's.\n\n{_table(main, paper)}\n\n"
        "All rows but `rationale` and `random_span` take spans as long as `span_attention`'s, so that nobody gains by "
        "reading\nmore. Coverage is the share of a text's words. Cut tells: how far a classifier that sees only where "
        "and how long the\nspans are is above always saying the most frequent label, in points; one that reads labels "
        "can write them there; the mean,\nand by seed. `average_gradient` does read the label of the text that it "
        "cuts, "
        f"as in the paper, the test text's too;\n`{BLIND}` reads the class that is predicted. "
        f"{where_computed(numbers['machines'])}\n\n{not_run_yet(models_with_seeds(numbers['missing']))}"
        f"## Is span attention better?\n\n{_claims(numbers['claims'])}\n\n"
        "Differences in points, on the same texts and seeds. The paper has no random spans and no gradients of the "
        f"predicted\nclass; there *reproduced* means that span attention is better. Below {ENOUGH_SEEDS} seeds there "
        f"is no verdict.\n\n## Is S-F above S-S above F-S?\n\n{_orders(numbers['order'])}\n\nSo it is in every row of "
        f"the paper's table, on both tasks.\n\n## What the label gives\n\n{_labels(numbers['label_read'])}\n\n"
        f"## Other ways to cut by the same scores, one seed\n\n{_table(modes, {})}\n\n"
        "`literal` is the paper's rule, which always takes one word. One seed each: they describe these models, and "
        "nothing\nfollows from a difference. See [corrections](../../docs/papers/corrections.md#a010).\n"
    )


def _models(models: Mapping[str, Sequence[float]]) -> str:
    return ", ".join(f"{kind} {_cell(accuracy)}" for kind, accuracy in models.items())


def _table(rows: Mapping[str, Numbers], paper: Mapping[str, Sequence[float]]) -> str:
    lines = [
        f"| {name} | {row['seeds']} | {row['words']:.1f} | {row['coverage']:.0%} | "
        + " | ".join(_cell(row[way]) + _beside(paper, name, number) for number, way in enumerate(WAYS[1:]))
        + f" | {_leak(row['leak'])} |"
        for name, row in rows.items()
    ]
    head = "| spans by | seeds | words | coverage | F-S | S-F | S-S | cut tells |\n|---|---|---|---|---|---|---|---|"
    return "\n".join([head, *lines])


def _cell(interval: Sequence[float]) -> str:
    mean, low, high = interval
    return f"{mean:.1f} [{low:.1f}, {high:.1f}]"


def _beside(paper: Mapping[str, Sequence[float]], name: str, number: int) -> str:
    return f" ({paper[name][number]})" if name in paper else ""


def _leak(leak: Numbers) -> str:
    """The mean over seeds, each seed's, and whether all are more than chance."""
    leaks = " leaks" if leak["leaks"] == len(leak["by_seed"]) else ""
    return f"{leak['mean']:.1f} ({', '.join(f'{one:.1f}' for one in leak['by_seed'])}){leaks}"


def _claims(claims: Sequence[Numbers]) -> str:
    return _listed("way | than", [f"{one['way']} | {one['over']}" for one in claims], claims)


def _orders(order: Sequence[Numbers]) -> str:
    return _listed("spans by | order", [f"{one['row']} | {one['more']} > {one['less']}" for one in order], order)


def _labels(label_read: Sequence[Numbers]) -> str:
    if not label_read:
        return "Not run yet."
    first = [f"{one['way']} | average_gradient − {BLIND}" for one in label_read]
    return _listed("way | difference of", first, label_read)


def _listed(head: str, first: Sequence[str], judged: Sequence[Numbers]) -> str:
    lines = [
        f"| {words} | {one['seeds']} | {one['texts']:,} | {_cell(one['difference'])} | "
        f"{weighed(one['verdict'], one.get('beside', ''))} |"
        for words, one in zip(first, judged, strict=True)
    ]
    return "\n".join([f"| {head} | seeds | texts | difference | verdict |", "|---|---|---|---|---|---|", *lines])
