"""One door for every model: a composed model's folder, a Hugging Face folder, or a hub name."""

from pathlib import Path

import torch

from pellucid.core.errors import BadFile, BadSetting
from pellucid.core.target import Problem
from pellucid.models.classifier import Classifier
from pellucid.models.composed import is_composed, load_composed
from pellucid.models.hugging_face import load_hugging_face


def load_classifier(
    source: str | Path, *, device: str = "cpu", dtype: str = "float32", problem: Problem | None = None
) -> Classifier:
    """Load a classifier; a path that looks local but is not there raises `BadFile` instead of asking the hub."""
    kind = getattr(torch, dtype, None)
    if not isinstance(kind, torch.dtype) or not kind.is_floating_point:
        raise BadSetting(
            f"dtype={dtype!r} is not possible; give 'float32', 'bfloat16', 'float16' or 'float64'."
        )
    path = Path(source).expanduser()
    if not path.is_dir() and _looks_local(str(source)):
        raise BadFile(f"There is no folder {source}; give a folder with a saved classifier, or a hub name.")
    composed = is_composed(path)
    if composed and problem is not None:
        raise BadSetting(f"{source} knows its own problem; leave problem= away.")
    classifier = (
        load_composed(path)
        if composed
        else load_hugging_face(path if path.is_dir() else source, problem, kind)
    )
    classifier.network.to(dtype=kind)
    return on_device(classifier, device)


def on_device(classifier: Classifier, device: str) -> Classifier:
    """Move a classifier's weights; raises `BadSetting` for a device that is not there."""
    try:
        classifier.network.to(torch.device(device))
    except (RuntimeError, AssertionError) as error:
        raise BadSetting(f"device={device!r} cannot be used here: {str(error).splitlines()[0]}") from None
    return classifier


def _looks_local(source: str) -> bool:
    return Path(source).exists() or source.startswith((".", "/", "~")) or source.count("/") > 1
