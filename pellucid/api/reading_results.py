"""The door `read`: results from a file, or from the folder of a comparison or of a watched training."""

from pathlib import Path

from pellucid.core.corpus.results import Results
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import possible_path
from pellucid.core.results import storage

PARTS = ("parts/*.parquet", "watched/step-*.parquet")  # where `compare` and `train` leave explanations


def read(path: str | Path) -> Results:
    """Read what `save` wrote, or the explanations of a comparison's folder or of a watched training's.

    path: a .parquet or .json file, or a folder that `compare` wrote, or `train` with `watch=`.

    Returns `Results`; of several methods, `results.where(method=…)` takes one. Of a watched training each explanation's
    model is called after its step, such as "step 50". Raises `BadFile` for anything else.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.save(pellucid.explain(model, ["A good film.", "Dull."]), "results.parquet")
    >>> pellucid.read("results.parquet")
    <Results: 2 explanations by occlusion>
    """
    path = possible_path(path)
    if not path.is_dir():
        return Results(tuple(storage.read(path)))
    files = sorted(file for pattern in PARTS for file in path.glob(pattern))
    if not files:
        raise BadFile(
            f"{path} is a folder without explanations; give the file that was saved, or the folder of a comparison or "
            "of a watched training."
        )
    return Results(tuple(explanation for file in files for explanation in storage.read(file)))
