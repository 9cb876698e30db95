"""Why a line misses what it must reach, where we know it: said beside the numbers of that case."""

from collections.abc import Mapping
from typing import Any

from benchmarks.attribution.cases import BY_ROUTE
from benchmarks.attribution.targets import BY_ROUTE_BEGINS, PLACE

Records = Mapping[str, Mapping[str, Any]]
LEAST = "captum's time ÷ ours, short texts (least"
# A line begins with one of these; one by the best route begins so behind the words that say so.
WHY = {
    "gradients, Grad-CAM": (
        "Besides what `gradient` pays, the weights of all blocks and their gradients are kept and read; the bare pass "
        "opens attention too, but keeps nothing."
    ),
    "gradient alone": (
        "Texts of different lengths share batches and are padded, while the floor repeats one text; the guard asks the "
        "model for two of the texts once more, one by one, and tokenising keeps every piece's place. It is the model's "
        "first call, which also tries whether texts may share a batch ([how much that takes](guard.md))."
    ),
    "integrated_gradients "
    "÷": "The two ends of the path are evaluated besides the points on it, for the completeness gap.",
    "gradient_shap": (
        "At captum's five samples, two passes that are no samples weigh a fifth: of the text, whose class is asked "
        "for, and of its blank text, for the completeness gap. At our default of 20 they weigh a twentieth. In a call "
        "of few texts, as with the long ones, the guard's call of the model itself, by PyTorch's own passes, comes on "
        "top."
    ),
    "integrated_gradients: evaluations": (
        "captum's 50 Gauss-Legendre points are already within 0.004 % of the truth, and neither of our rules gets "
        "there with half. Even points that are placed [where the truth says](path-rules.md), text by text, do not."
    ),
    "shapley_sampling: evaluations": (
        "The worst of captum's settings is shown, its fewest permutations; from 25 on, its default, ours meets it. "
        "`gaussian_process_shapley` needs a quarter there."
    ),
    "kernel_shap: evaluations": (
        "The worst of captum's settings is shown, 50 coalitions of 12 to 14 words, where neither says much; at 200 "
        "ours meets it. A fit needs a pair of coalitions for each word but one: with the whole and the empty text "
        "these alone are 24 to 28, half of 50."
    ),
    "bfloat16": "Weights in bfloat16 round every sum; `mixed_bfloat16` is the faithful half.",
    "mixed_bfloat16": (
        "Only feed-forward layers behind the first block compute in bfloat16: with all blocks it is faster, and more "
        "texts get other words. By the route onednn it is faster too ([below](#bfloat16)); this line takes the fastest "
        "of what keeps the words of enough texts with every method."
    ),
    LEAST: (
        "captum computes whole texts near the floor's speed. Ours leaves absent tokens out, about half of them, and "
        "the route is nearly twice as fast as PyTorch's own passes: both together are about four."
    ),
    "texts with the same": (
        "Long remarks whose fifth and sixth words are nearly alike; on 350 dev sentences of SST-2 and a trained "
        "classifier 95 % keep their five words in `mixed_bfloat16`."
    ),
}


def why(what: str, records: Records) -> str:
    """The reason for a line and, of a timed method, where its time went; empty if nothing is known."""
    by = BY_ROUTE if what.startswith(BY_ROUTE_BEGINS) else "pellucid"
    what = what.removeprefix(BY_ROUTE_BEGINS)
    reason = next((reason for begins, reason in WHY.items() if what.startswith(begins)), "")
    method = "together" if what.startswith("gradients, Grad-CAM") else what.split()[0].rstrip(",")
    parts = [_profile(records, method, by, kind) for kind in ("short", "long")] if "÷ " in what else []
    if what.startswith(LEAST):
        parts = [_at_the_peak(records, what.rpartition(": ")[2].rstrip(")"))]
    return " ".join(filter(None, (reason, *parts)))


def _at_the_peak(records: Records, method: str) -> str:
    """How much faster than captum a method would be whose tokens went through at the processor's peak."""
    ours, captum = (records.get(f"{method} / {by} / short / {PLACE}", {}) for by in ("pellucid", "captum"))
    peak = records.get(f"peak / {PLACE.rsplit(', ', 1)[1]}", {}).get("gflops")
    operations = records.get(f"floor / short / {PLACE}", {}).get("operations_per_token")
    if not (peak and operations and "tokens_forward" in ours and "seconds" in captum):
        return ""
    seconds = ours["tokens_forward"] * operations["forward"] / 1e9 / max(peak.values())
    return (
        f"If our tokens ran at the processor's peak in float32, and nothing else took time, {method} would be "
        f"{captum['seconds'] / seconds:.1f} times as fast as captum."
    )


def _profile(records: Records, method: str, by: str, kind: str) -> str:
    """What a case computed beyond its definition, how much ran outside the network, and how unquiet the machine was."""
    record = records.get(f"{method} / {by} / {kind} / {PLACE}", {})
    if "tokens_by_definition" not in record:
        return ""
    slowest, fastest = min(record["floors"]), max(record["floors"])
    return (
        f"On the {kind} texts {record['ratio']:.2f} x{_computed(record)}; meanwhile the floor itself moved between "
        f"{slowest:,.0f} and {fastest:,.0f} tokens a second."
    )


def _computed(record: Mapping[str, Any]) -> str:
    """The part about tokens and the network, where they were counted."""
    if "tokens_forward" not in record:
        return ""
    both = record["tokens_forward"] + record["tokens_backward"]
    passes = 2 if record["tokens_backward"] else 1
    outside = 1 - record["forward_share"] - record["backward_share"]
    return f": {both / passes / record['tokens_by_definition']:.2f} x the tokens, {outside:.0%} outside the network"
