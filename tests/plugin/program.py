"""Uses one extension of each kind, from a package that is only installed, through the public functions.

python tests/plugin/program.py MODEL ENCODER: folders with a tiny classifier and a tiny encoder. Prints one JSON object.
"""

import json
import sys
from pathlib import Path

import pellucid
from pellucid.base import kinds

CATALOGUES = {
    "plugged_gradient": kinds.attributions,
    "plugged_fall": kinds.metrics,
    "plugged_first": kinds.checks,
    "plugged_words": kinds.extractors,
    "plugged_attention": kinds.poolers,
    "plugged_peak": kinds.penalties,
    "plugged_answers": kinds.objectives,
    "plugged_policy": kinds.policies,
    "plugged_log": kinds.formats,
    "plugged_things": kinds.datasets,
    "plugged_opening": kinds.reasons,
    "plugged_route": kinds.routes,
}
TEXTS = ["A gripping, lovely film.", "Long and rather dull."]


def listed() -> dict[str, bool]:
    """For each extension whether its catalogue and the public lists have it."""
    public = {entry["name"] for entry in [*pellucid.methods(), *pellucid.formats()]}
    names = {name: name in catalogue.names() for name, catalogue in CATALOGUES.items()}
    return names | {f"public {name}": name in public for name in ("plugged_gradient", "plugged_log")}


def explained(folder: str) -> dict[str, float]:
    """What the method, the policy, the metric and the extractor give for a classifier."""
    model = pellucid.load(folder)
    single, double = (
        pellucid.explain(model, TEXTS, "plugged_gradient", factor=factor)[0].scores for factor in (1.0, 2.0)
    )
    under = pellucid.explain(model, TEXTS, "relevance", policy="plugged_policy")[0]
    ours = pellucid.explain(model, TEXTS, "relevance", policy="cp")[0]
    table = pellucid.compare(
        model,
        pellucid.examples("plugged_things", split="test"),
        ["plugged_gradient"],
        ["plugged_fall"],
        checks=["plugged_first"],
    )
    extractions = pellucid.extract(model, TEXTS, "plugged_words")
    return {
        "factor": float(abs(double - 2 * single).max()),
        "policy": float(abs(under.scores - ours.scores).max()),
        "fall": table.cell("plugged_gradient", "plugged_fall").value.mean,
        "first": table.check("plugged_first").line("chance").value.mean,
        "spans": min(len(extraction.spans) for extraction in extractions),
    }


def trained(encoder: str) -> dict[str, float]:
    """What a model with the pooler, trained with the penalty on the data set, gives."""
    settings = {"epochs": 1, "batch_size": 8, "precision": "float32", "progress": False}
    model = pellucid.train(
        "plugged_things",
        encoder=encoder,
        pooler="plugged_attention",
        penalties={"plugged_peak": 0.5},
        objectives={"plugged_answers": 0.5},
        out="trained",
        **settings,
    )
    loaded = pellucid.load("trained")
    own, again = (pellucid.explain(one, TEXTS, "span_attention")[0].scores for one in (model, loaded))
    return {"weights": float(own.sum()), "loaded": float(abs(own - again).max()), "words": len(own)}


def routed(folder: str) -> dict[str, str | float]:
    """The route that the scores name, and how far they are from those without it."""
    plain, ours = (
        pellucid.explain(pellucid.load(folder, **route), TEXTS, "gradient_x_input")[0]
        for route in ({}, {"route": "plugged_route"})
    )
    return {"route": ours.settings["route"], "routed": float(abs(plain.scores - ours.scores).max())}


def read() -> dict[str, int]:
    """How many examples the format reads, and the planted reason plants."""
    Path("test.log").write_text("ann\tHello.\nbob\tWho?\nann\tMe.\n", encoding="utf-8")
    remarks = pellucid.examples(".", format="plugged_log", by="ann")
    planted = pellucid.plant("plugged_opening", "plugged_things", n=10)
    openings = {example.text.split()[0] for example in planted["train"]}
    return {"remarks": len(remarks), "planted": len(planted["train"]), "openings": len(openings)}


if __name__ == "__main__":
    classifier, encoder = sys.argv[1:]
    parts = (listed(), explained(classifier), routed(classifier), trained(encoder), read())
    print(json.dumps({name: value for part in parts for name, value in part.items()}))
