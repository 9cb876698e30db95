"""Names of several models in one analysis."""

from collections.abc import Sequence

from pellucid.core.passes.model import Model


def distinct_names(models: Sequence[Model]) -> list[str]:
    """The models' own names, with a number where one was used before."""
    names: list[str] = []
    for model in models:
        number, name = 2, model.name
        while name in names:
            name, number = f"{model.name} ({number})", number + 1
        names.append(name)
    return names
