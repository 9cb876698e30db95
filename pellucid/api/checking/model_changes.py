"""The changed copies of a model that checks ask for, from the room of models."""

from collections.abc import Sequence

from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.models.changed.random_weights import with_random_weights
from pellucid.models.changed.shifted_vectors import with_shifted_vectors
from pellucid.models.changed.unread_word import without_first_word


class OurChanges:
    """Implements `evaluation.checking.check_case.ModelChanges` for the models that we have."""

    def with_random_weights(self, model: Model, first: float, last: float, seed: int) -> Model:
        """See `models.changed.random_weights`."""
        return with_random_weights(model, first, last, seed)

    def with_shifted_vectors(self, model: Model, size: float, seed: int) -> Model:
        """See `models.changed.shifted_vectors`."""
        return with_shifted_vectors(model, size, seed)

    def without_first_word(self, model: Model, examples: Sequence[Example]) -> tuple[Model, list[Example]]:
        """See `models.changed.unread_word`."""
        return without_first_word(model, examples)
