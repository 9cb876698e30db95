"""Of a file that a model was trained on, the texts that training has not seen: `compare` and `errors` judge these."""

from collections.abc import Sequence

from pellucid.api.data_source import DataSource
from pellucid.cli.printing.safe_text import say
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.core.text.trained_texts import seen_in_training


def held_out(
    model: Model, examples: Sequence[Example], source: DataSource
) -> tuple[list[Example], list[Example]]:
    """(texts to judge, texts left out): of one file whose texts were partly used in training, the others are judged.

    Of a file that training used as a whole, and of a part that the user named, all texts are judged; the result has a caveat.
    """
    seen = seen_in_training(model, examples)
    if not source.is_one_file or all(seen) or not any(seen):
        return list(examples), []
    rest = [example for example, known in zip(examples, seen, strict=True) if not known]
    left_out = [example for example, known in zip(examples, seen, strict=True) if known]
    say(
        f"The model was made with {len(left_out):,} of the {len(examples):,} texts of {source.data} (train and dev); only the "
        f"{len(rest):,} others are judged.",
        aside=True,
    )
    return rest, left_out
