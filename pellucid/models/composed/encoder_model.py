"""A pretrained encoder as a model, before it is fine-tuned: its states can be read, and its answers mean nothing."""

from pathlib import Path

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders
from pellucid.base.local_random import OwnDraws
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.source_digest import load_encoder
from pellucid.models.composed.composed import CONFIG, as_classifier, is_composed
from pellucid.models.composed.composed_network import composed_network
from pellucid.models.composed.plan import Plan, read_plan
from pellucid.models.folders.configuration import read_object
from pellucid.models.folders.kinds_of_model import CLASSIFIER, class_names

LABELS = ("first", "second")  # of a head that nothing reads


def encoder_model(source: str | Path) -> Classifier:
    """The encoder of a name or folder under a head that nobody trained; of a composed model, the one that it began with, in its own
    form (without B-cos layers).

    Raises `BadSetting` for a classifier whose encoder before fine-tuning is not known, `BadFile` where there is none.
    """
    name = _beginning(source)
    encoder, tokenizer = load_encoder(name)
    plan = Plan(str(name), "mean", {}, LABELS)
    with OwnDraws(0):
        network = composed_network(encoder, plan)
    return as_classifier(network.eval(), tokenizer, plan, str(name))


def is_encoder(source: str | Path) -> bool:
    """Whether a source plainly is an encoder without a classifier: "minilm", or the folder of one."""
    if str(source) == "minilm":
        return True
    folder = Path(source)
    if not folder.is_dir() or is_composed(folder) or not (folder / CONFIG).is_file():
        return False
    return not any(name.endswith(CLASSIFIER) for name in class_names(folder))


def _beginning(source: str | Path) -> str | Path:
    """What an encoder is loaded from; of a composed model's folder, what its plan names."""
    if is_composed(source):
        plan = read_plan(read_object(Path(source) / CONFIG))
        if plan.started_from or plan.encoder in encoders.names():
            raise BadSetting(
                f"{source} was not begun with a pretrained encoder, so there is none before fine-tuning; leave "
                "on='encoder' (--on encoder) away."
            )
        return plan.encoder
    if Path(source).is_dir() and any(name.endswith(CLASSIFIER) for name in class_names(Path(source))):
        raise BadSetting(
            f"{source} is fine-tuned, and does not say from which encoder; give that encoder's folder or name in its place, "
            "or leave on='encoder' (--on encoder) away."
        )
    return source
