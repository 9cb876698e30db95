"""One file that a model was trained on, as `compare` and `errors` read it: the texts that training has not seen."""

from collections.abc import Sequence

from pellucid.cli.safe_text import say
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.core.text.trained_texts import seen_in_training
from pellucid.datasets.load import is_one_file


def held_out(
    model: Model, examples: Sequence[Example], data: str, format_: str | None
) -> tuple[list[Example], list[Example]]:
    """(texts to judge, texts left out): of one file that training took a part of, the rest is judged.

    Of a file that was seen whole, and of a part that the user named, all are judged; the result says so.
    """
    seen = seen_in_training(model, examples)
    if not is_one_file(data, format_) or all(seen) or not any(seen):
        return list(examples), []
    rest = [example for example, known in zip(examples, seen, strict=True) if not known]
    left_out = [example for example, known in zip(examples, seen, strict=True) if known]
    say(
        f"The model was made with {len(left_out):,} of the {len(examples):,} texts of {data} (train and dev); only the "
        f"{len(rest):,} others are judged.",
        aside=True,
    )
    return rest, left_out
