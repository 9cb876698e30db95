"""One door for every model: a composed model's folder, a Hugging Face folder, or a hub name."""

from dataclasses import replace
from pathlib import Path

import torch

from pellucid.base.checks import one_of, quoted, reason
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import disk_errors, possible_path
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import load_hugging_face
from pellucid.models.composed.composed import is_composed, load_composed
from pellucid.models.writing.continuing import Languages
from pellucid.models.writing.load import is_writing_source, load_writing
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.target import Problem

DTYPES = ("float32", "bfloat16", "float16", "float64", "mixed_bfloat16")


def load_classifier(
    source: str | Path, *, device: str = "cpu", dtype: str = "float32", problem: Problem | None = None
) -> Classifier:
    """Load a classifier; a path that looks local but is not there raises `BadFile` instead of asking the hub.

    dtype: of weights and computation; "mixed_bfloat16" keeps weights, attention, sums and the head in float32 and lets
    the feed-forward layers behind the first block multiply in bfloat16.
    """
    one_of("dtype", dtype, DTYPES)
    mixed = torch.bfloat16 if dtype == "mixed_bfloat16" else None
    kind = torch.float32 if mixed else getattr(torch, dtype)
    with disk_errors("read", Path(source)):
        path = _expanded(possible_path(source))
        is_folder = path.is_dir()
        if path.is_file():
            raise BadFile(f"{source} is a file, no model's folder; give the folder that `save_pretrained` wrote.")
    if not is_folder and _looks_local(str(source)):
        raise BadFile(f"There is no folder {source}; give a folder with a saved classifier, or a hub name.")
    composed = is_composed(path)
    if composed and problem is not None:
        raise BadSetting(f"{source} knows its own problem; leave problem= away.")
    classifier = (
        load_composed(path) if composed else load_hugging_face(path if path.is_dir() else source, problem, kind)
    )
    classifier.network.to(dtype=kind)
    return on_device(replace(classifier, computes_in=mixed), device)


def load_model(
    source: str | Path,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    problem: Problem | None = None,
    languages: Languages | None = None,
) -> Classifier | WritingModel:
    """A classifier, or a model that writes where the source's configuration says so; see `load_classifier`.

    languages: those of a translator of many; None: as its tokenizer says.
    """
    one_of("dtype", dtype, DTYPES)
    path = _expanded(possible_path(source))
    local = path.is_dir() or _looks_local(str(source))
    if (local and not path.is_dir()) or is_composed(path) or not is_writing_source(path if local else source):
        return load_classifier(source, device=device, dtype=dtype, problem=problem)
    if problem is not None or dtype == "mixed_bfloat16":
        raise BadSetting(f"{source} writes texts; leave problem= away, and give a plain number type as dtype=.")
    model = load_writing(path if local else source, getattr(torch, dtype), languages or Languages())
    move(model.network, device)
    return model


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # there is no user of that name
        return path


def on_device(classifier: Classifier, device: str) -> Classifier:
    """Move a classifier's weights; raises `BadSetting` for a device that is not there."""
    move(classifier.network, device)
    return classifier


def move(network: torch.nn.Module, device: str) -> None:
    """Move a network's weights; raises `BadSetting` for a device that is not there."""
    try:
        target = torch.device(device)
    except (RuntimeError, TypeError):
        target = torch.device("meta")  # where nothing is computed
    if target.type == "meta":
        raise BadSetting(f"device={quoted(device)} is not possible; give 'cpu', 'cuda' or 'cuda:1'.")
    try:
        network.to(target)
    except (RuntimeError, AssertionError) as error:
        raise BadSetting(f"device={quoted(device)} cannot be used here: {reason(error)}.") from None


def _looks_local(source: str) -> bool:
    return Path(source).exists() or source.startswith((".", "/", "~")) or source.count("/") > 1
