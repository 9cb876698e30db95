"""Whether a penalty has something to act on: the model must have what it reads, and must learn it."""

from collections.abc import Mapping

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import penalties, poolers

# What a penalty can read of a network's output: in words, and the capability of the poolers that give it.
READS = {"spans": ("span weights", "span_weights"), "gates": ("the choice of words", "rationale")}


def check_fit(weights: Mapping[str, float], pooler: str, pooler_settings: Mapping[str, object]) -> None:
    """Raise `BadSetting` for a penalty on something that the pooler does not have, or does not learn.

    weights: penalty -> weight. A penalty of weight 0 is not computed, so it fits everywhere.
    """
    explains, fixed = poolers.get(pooler).facts["explains"], weighs_all_alike(pooler_settings)
    for name in (name for name, weight in weights.items() if weight):
        what, needed = READS[penalties.get(name).facts["reads"]]
        if explains != needed:
            raise BadSetting(
                f"The penalty {name} reads {what}, which pooler={pooler!r} does not have; give "
                f"{_poolers_with(needed)}, or {_instead(explains)}."
            )
        if needed == "span_weights" and fixed:
            raise BadSetting(
                f"The penalty {name} would change nothing: weights='uniform' gives every span the same weight. Leave "
                "the penalty away, or give weights='learned'."
            )


def weighs_all_alike(pooler_settings: Mapping[str, object]) -> bool:
    """Whether a span pooler's weights are equal by design."""
    return pooler_settings.get("weights") == "uniform"


def _poolers_with(capability: str) -> str:
    fitting = (name for name in poolers.names() if poolers.get(name).facts["explains"] == capability)
    return " or ".join(f"pooler={name!r}" for name in fitting)


def _instead(explains: str | bool) -> str:
    """What the user can do without another pooler."""
    fitting = [name for name in penalties.names() if READS[penalties.get(name).facts["reads"]][1] == explains]
    return f"a penalty that fits it ({', '.join(fitting)})" if fitting else "no penalty: none fits it"
