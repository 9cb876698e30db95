"""A folder whose training has ended: whether it is what is asked for, and what it says of itself."""

import json
from pathlib import Path
from typing import Any

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import read_text
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.digest import network_digest
from pellucid.models.classifiers.source_digest import source_digest
from pellucid.models.composed.composed import CONFIG, load_composed
from pellucid.models.composed.plan import Plan


def finished_model(folder: Path, fingerprint: str, plan: Plan) -> Classifier:
    """The model of a finished folder; raises `BadFile` where it was trained otherwise, or is no longer what was trained.

    Folders of earlier versions know neither their encoder's files nor their weights' digest, and are believed.
    """
    trained = _trained(folder)
    if trained.get("fingerprint") != fingerprint:
        raise BadFile(f"{folder} holds a model trained otherwise; give another folder, or remove this one.")
    was, now = trained.get("encoder_files"), encoder_files(plan)
    if was and now and was != now:
        raise BadFile(
            f"{folder} holds a model trained otherwise: the files of the encoder {plan.encoder} are not what they were; "
            "give another folder, or remove this one."
        )
    model = load_composed(folder)
    if "weights" in trained and trained["weights"] != network_digest(model.network, []):
        raise BadFile(f"{folder} holds other weights than were trained in it; remove it to train again.")
    return model


def finished_history(folder: Path) -> list[dict[str, float]]:
    """The epochs' numbers."""
    return list(_trained(folder)["history"])


def encoder_files(plan: Plan) -> str:
    """A digest of what training starts from; "" where the plan says so already, or the files are not here."""
    return "" if plan.started_from else source_digest(plan.encoder)


def _trained(folder: Path) -> dict[str, Any]:
    trained = json.loads(read_text(folder / CONFIG)).get("trained")
    return trained if isinstance(trained, dict) else {}
