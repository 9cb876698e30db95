"""The methods of the paper under its short names, as they should be, and as its released code computes them."""

from collections.abc import Mapping

from pellucid.base.catalogue import Choice

Methods = Mapping[str, Choice]  # name -> the method with its settings

CHANCE = "chance"
EMBEDDED = {"layer": 0}  # the paper reads words behind the embeddings' norm
GS: Choice = ("gradient", EMBEDDED)
GI: Choice = ("gradient_x_input", {"norm": "l2", **EMBEDDED})
LRP: Choice = ("relevance", {"reduce": "abs", **EMBEDDED})
LAT: Choice = ("attention", {"flow": "tracing"})
PAPER: Methods = {"GS": GS, "GI": GI, "LRP": LRP, "LAT": LAT}

# Beside them: the rule that the paper names, and what keeping the derivative of GELU changes (appendix A).
VARIANTS: Methods = {
    "LRP-αβ": ("relevance", {"policy": "alpha_beta", "reduce": "abs", **EMBEDDED}),
    "LRP with GELU's derivative": (
        "relevance",
        {"reduce": "abs", "policy_settings": {"activation": "gradient"}, **EMBEDDED},
    ),
}
# Of the last class, whatever is predicted (corrections.md A2.1, A2.3 to A2.8).
RELEASED: Methods = {
    "GS": GS,
    "GI": GI,
    "LRP": "wu_ong_lrp",
    "LAT": ("attention", {"flow": "tracing", "heads": "chain"}),
}
TITLES = {
    "GS": "gradient sensitivity",
    "GI": "gradient × input",
    "LRP": "relevance",
    "LAT": "attention tracing",
    CHANCE: "random words",
}


def released(name: str) -> str:
    """What a method of the released code is called beside ours."""
    return f"{name} as released"
