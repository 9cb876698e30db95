"""Single texts and pairs beside what a model was trained on: a notice where they are not the same."""

from collections.abc import Sequence

from pellucid.core.foundation.call_syntax import in_syntax
from pellucid.core.foundation.notices import OtherSegments, notify
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example

WORDS = {1: "single texts", 2: "pairs of texts"}
AS_PAIRS = (
    'write each as a pair: ("the first text", "the second")',
    "give the second text with --second, or a file with two columns of texts",
)
AS_SINGLE_TEXTS = "write each as one string", "leave --second away, or name one column of texts with --text"


def notice_segments(model: Model, examples: Sequence[Example]) -> None:
    """Say how many of the examples are pairs where the model was trained on single texts, or the other way round."""
    trained = getattr(model, "trained_segments", None)  # a `Classifier` has it
    if trained not in WORDS:
        return
    other = sum(len(example.segments) != trained for example in examples)
    if other:
        here = WORDS[3 - trained]
        advice = in_syntax(*(AS_PAIRS if trained == 2 else AS_SINGLE_TEXTS))
        notify(
            f"{model.name} was trained on {WORDS[trained]}, and {other} of {len(examples)} here are {here}, whose prediction may mean "
            f"nothing; {advice}.",
            OtherSegments,
        )
