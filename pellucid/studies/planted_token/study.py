"""Planted token: do the methods find the one word that is known to decide the label?

After Bastings et al. (2022), "Will You Find These Shortcuts?". A classifier learns texts whose label one made-up word
decides; on 200 test texts each method's word ranking is scored by average precision, 1 / rank of the true word.

    python -m pellucid.studies.planted_token --out studies/planted_token
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pellucid.api import accuracy, explain_all, train, usual_methods
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.files import write_text
from pellucid.core.passes.model import Model
from pellucid.core.results.table import Interval
from pellucid.datasets.load import load_examples
from pellucid.evaluation.protocols.pointing import reason_found
from pellucid.evaluation.shared.summary import bootstrap_interval
from pellucid.studies.shared.method_settings import affordable

# How its model is trained, written out, so that the kept page stays true when defaults change.
TRAINING: dict[str, Any] = {
    "epochs": 2,
    "new_parts_factor": 2.0,
    "penalties": {"concentration": 1.0},
    "pooler_settings": {"score_start": 0.15},
}
LEARNT = 0.98  # below this accuracy the model has not learnt the reason, and no method can be judged


def planted_token(
    model: Model, methods: Sequence[Choice] | None = None, seed: int = 0, texts: int = 200
) -> dict[str, Interval]:
    """Mean average precision of each method (all usual ones) over the first test texts, with its 95 % interval."""
    test = load_examples("planted_token", "test")[:texts]
    chosen = usual_methods(model) if methods is None else methods
    found = explain_all(model, test, affordable(chosen), seed=seed)
    return {title: bootstrap_interval(reason_found(explanations)) for title, explanations in found.items()}


def as_page(reached: Interval, found: dict[str, Interval]) -> str:
    """The result as a Markdown page."""
    rows = "\n".join(
        f"| {name} | {value} | {'yes' if value.low > found['chance'].high else 'no'} |"
        for name, value in sorted(found.items(), key=lambda item: -item[1].mean)
    )
    return (
        "# Planted token: which methods find the known reason?\n\n"
        "all-MiniLM-L6-v2 with span attention, trained on texts whose label one made-up word decides; "
        f"test accuracy {reached}. Mean average precision of each method's word ranking over 200 test texts.\n"
        "Made by `python -m pellucid.studies.planted_token --out studies/planted_token`.\n\n"
        "| method | mean average precision [95 %] | above chance |\n|---|---|---|\n"
        f"{rows}\n"
    )


def main() -> None:
    """Train (or load) the model, score the methods, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    model = train(
        "planted_token",
        encoder=given.encoder,
        out=given.out / "models" / "span",
        seed=given.seed,
        progress=True,
        **TRAINING,
    )
    reached = accuracy(model, load_examples("planted_token", "test"))
    if reached.mean < LEARNT:
        raise SystemExit(f"The model reached {reached}; below {LEARNT} it has not learnt the planted reason.")
    found = planted_token(model, seed=given.seed)
    write_text(
        given.out / "result.json",
        json.dumps({name: asdict(value) for name, value in found.items()}, indent=1),
    )
    write_text(given.out / "README.md", as_page(reached, found))
    print(as_page(reached, found))


if __name__ == "__main__":
    main()
