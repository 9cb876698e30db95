"""A layer analysis from what the command `layers` wrote: the file of `--save`, or the folder of `--out`."""

from collections import defaultdict
from pathlib import Path

from pellucid.api.layers.analysing_layers import caveats_of
from pellucid.core.corpus.layer_analysis import FORM, LayerAnalysis, ModelLayers
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.json_text import read_json
from pellucid.core.foundation.kinds import attributions
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.storage import read
from pellucid.evaluation.shared.question_folder import PARTS, QUESTION
from pellucid.reports.wording.method_facts import entry_of


def layers_at(path: Path) -> LayerAnalysis | None:
    """The analysis that this file or folder holds; None where it holds something else, such as explanations.

    Raises `BadFile` for a folder whose work is not finished, and for a file or a part that is damaged.
    """
    if (path / QUESTION).is_file():
        question = read_json(path / QUESTION)
        is_of_others = isinstance(question, dict) and "models" not in question  # such as a comparison
        return None if is_of_others else _of_folder(path)
    if path.suffix != ".json" or not path.is_file():
        return None
    whole = read_json(path)
    return LayerAnalysis.read(path) if isinstance(whole, dict) and whole.get("form") == FORM else None


def _of_folder(path: Path) -> LayerAnalysis:
    """The parts of a folder, put together as the door `layer_analysis` does."""
    question = read_json(path / QUESTION)
    try:
        names = {name: len(trainings) for name, trainings in question["models"].items()}
        n_texts = int(str(question["texts"]).split()[0])
    except (TypeError, LookupError, ValueError, AttributeError):
        raise BadFile(
            f"{path / QUESTION} is damaged; give another folder, or make the analysis again."
        ) from None
    parts: dict[tuple[int, int], list[Explanation]] = defaultdict(list)
    for file in sorted((path / PARTS).glob("*-*-*.parquet")):
        model, training, _ = file.stem.split("-")
        parts[int(model), int(training)] += read(file)
    explanations = {
        name: [parts[number, training] for training in range(n_trainings)]
        for number, (name, n_trainings) in enumerate(names.items())
    }
    if any(len(one) != n_texts for trainings in explanations.values() for one in trainings):
        raise BadFile(f"The work in {path} is not finished; run the same `pellucid layers` again to go on.")
    members = tuple(ModelLayers(name, tuple(map(tuple, each))) for name, each in explanations.items())
    entry = entry_of(attributions, members[0].seeds[0][0].method)
    return LayerAnalysis(
        members, str(entry.facts["measure"]) if entry else "", tuple(caveats_of(explanations))
    )
