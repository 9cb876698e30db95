"""A composed model on a pretrained encoder as what training changed of it: one small file instead of all weights.

What fine-tuning adds to a large matrix is nearly a matrix of low rank (Hu et al. 2022, "LoRA", section 4.1, train it
so; here it is cut to that rank afterwards, by its singular values). So a change is kept as two thin matrices in sixteen
bits; changes of vectors, and the pooler and head, are kept whole. Changes of embeddings are not kept. The model of the
file is therefore nearly the one that was trained, and it is the file's that must be judged.
"""

import json
from hashlib import sha256
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from pellucid.base.checks import at_least
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.composed import as_classifier, compose
from pellucid.models.composed.networks import ComposedNetwork, Plan, read_plan
from pellucid.models.folders.weight_files import save_tensors

ENCODER = "encoder."
EMBEDDINGS = "embeddings.weight"  # how the names of tables of embeddings end
FACTORS = (":left", ":right")  # of a matrix's change: their product is the change


def save_changes(network: ComposedNetwork, plan: Plan, path: Path, rank: int) -> None:
    """Write what the network has changed of its plan's encoder, and its new parts.

    rank: of the changes of matrices, 1 or more; a network of higher rank is kept as nearly as this rank can. Raises
    `BadSetting` for another rank, `BadFile` where the file cannot be written.
    """
    at_least("rank", rank, 1)
    before = _beginning(plan)[0].state_dict()
    changes: dict[str, Tensor] = {}
    for name, weight in network.state_dict().items():
        if not name.startswith(ENCODER):
            changes[name] = weight.half()
        elif not name.endswith(EMBEDDINGS):
            changes |= _factors(name, weight.float() - before[name].float(), rank)
    save_tensors(changes, path, {"plan": json.dumps(plan.record())})


def _factors(name: str, change: Tensor, rank: int) -> dict[str, Tensor]:
    """Two matrices of this rank whose product is nearest to a matrix's change; a vector's change as it is."""
    if change.ndim != 2:
        return {name: change.half()}
    left, sizes, right = torch.linalg.svd(change, full_matrices=False)
    roots = sizes[:rank].sqrt()
    factors = left[:, :rank] * roots, roots[:, None] * right[:rank]
    return {name + end: factor.half().contiguous() for end, factor in zip(FACTORS, factors, strict=True)}


def load_changes(path: Path, digest: str) -> tuple[Classifier, Plan]:
    """The model of a file that `save_changes` wrote, on the plan's encoder, and the plan.

    digest: the file's SHA-256, in hexadecimal. Raises `BadFile` for another file, or one that does not fit the encoder.
    """
    with disk_errors("read", path):
        content = sha256(path.read_bytes()).hexdigest()
    if content != digest:
        raise BadFile(f"{path} is not the file that belongs here: its SHA-256 is {content}, and {digest} was expected.")
    try:
        with safe_open(path, "pt") as file:
            plan = read_plan(json.loads(file.metadata()["plan"]))
            changes = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118  # no mapping
        network, tokenizer = _beginning(plan)
        _change(network, changes)
    except (SafetensorError, LookupError, TypeError, ValueError, RuntimeError) as error:
        raise BadFile(f"{path} does not hold the changes of a composed model: {error}.") from None
    return as_classifier(network.eval(), tokenizer, plan, str(path)), plan


def _beginning(plan: Plan) -> tuple[ComposedNetwork, Tokenizer]:
    """The network before training."""
    return compose(plan, 0)


def _change(network: nn.Module, changes: dict[str, Tensor]) -> None:
    weights = network.state_dict()  # the network's own tensors
    for name, weight in weights.items():
        if all(name + end in changes for end in FACTORS):
            left, right = (changes.pop(name + end) for end in FACTORS)
            weight += left @ right
        elif name.startswith(ENCODER):
            weight += changes.pop(name) if name in changes else 0
        else:
            weight.copy_(changes.pop(name))
    if changes:
        raise ValueError(f"the network has no {min(changes)}")
