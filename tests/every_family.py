"""What works with every family of the library's mapping: one row of the capability page a family."""

import re
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from pellucid.base.errors import ModelCannot, ParityBroken, PellucidError
from pellucid.base.kinds import attributions
from pellucid.models.classifiers.classifier import Classifier
from tests.shared.asking import FEW, ask
from tests.shared.families import MAPPING, family_classifier

TEXTS = ("A gripping, lovely film.", ("The café was closed.", "Nobody could eat."))
OF_ENCODERS = frozenset({"gradient", "hidden_states", "attention"})  # what Hugging Face classifiers may have
OWN = frozenset(
    {"span_weights", "unit_weights", "rationale", "b_cos", "bert_layers", "linear"}
)  # of models with other parts
SHARED = {"padded": "padded", "equal": "rows of one length", "alone": "each row alone"}
HEAD = """## Every family of the library

One row a family of transformers' own mapping of sequence classifiers, as a small random model with a fast tokenizer of
its kind, made by running every method on it. **Capabilities**: what the network shows while it reads one text.
**Methods**: how many of those run that these capabilities allow. **In batches**: which rows share a pass, so that each
gets the answer that it gets alone: any, padded, or only rows of one length, or none.
**What is missing**: capabilities with the reason, methods that end in a sentence, and what else to know.
"""


@dataclass(frozen=True)
class Row:
    """What one family's classifier can do.

    capabilities: of `OF_ENCODERS`. possible: methods that these allow. failing: method -> why it ends in a sentence.
    batches: which rows share a pass. refused: why nothing works. lacks: capability -> reason.
    """

    family: str
    capabilities: frozenset[str] = frozenset()
    possible: int = 0
    failing: tuple[tuple[str, str], ...] = ()
    batches: str = "–"
    refused: str = ""
    lacks: tuple[tuple[str, str], ...] = ()

    @property
    def works(self) -> int:
        """Methods that run."""
        return self.possible - len(self.failing)

    def __str__(self) -> str:
        has = ", ".join(name for name in sorted(OF_ENCODERS) if name in self.capabilities) or "–"
        notes = [self.refused] if self.refused else []
        notes += [f"no {name}: {why}" for name, why in self.lacks]
        whys = dict.fromkeys(why for _, why in self.failing)
        notes += [", ".join(name for name, of in self.failing if of == why) + f": {why}" for why in whys]
        if slow_tokenizer(self.family):
            notes.append("its tokenizer in the library gives no character offsets")
        methods = f"{self.works} of {self.possible}" if not self.refused else "none"
        return f"| {self.family} | {has} | {methods} | {self.batches} | {'; '.join(notes) or '–'} |"


def slow_tokenizer(family: str) -> bool:
    """Whether the library has nothing but a tokenizer in Python for it, which gives no character offsets."""
    name = TOKENIZER_MAPPING_NAMES.get(family)
    kinds = {kind.__name__ for kind in getattr(getattr(transformers, name or "", None), "__mro__", ())}
    return "PythonBackend" in kinds


def row(family: str) -> Row:
    """Run every method that the family's capabilities allow on each text alone, and one on the texts together."""
    try:
        model = family_classifier(family)
        capabilities = model.capabilities
    except (ImportError, PellucidError) as error:
        return Row(family, refused=_short(error))
    names = [name for name in attributions.names() if not attributions.get(name).facts["needs"] & OWN]
    possible = [name for name in names if not attributions.get(name).facts["needs"] - capabilities]
    failing = tuple((name, why) for name in possible if (why := _why_not(model, name)))
    if len(failing) == len(possible):
        return Row(family, refused=failing[0][1])
    lacks = tuple((name, why) for name, why in model.structure.lacks.items() if name in OF_ENCODERS)
    return Row(family, capabilities & OF_ENCODERS, len(possible), failing, batches(model), "", lacks)


def batches(model: Classifier) -> str:
    """How its rows share passes, after texts of several lengths were run together."""
    why_not = _why_not(model, "occlusion", together=True)
    return why_not or ", ".join(sorted({SHARED[packing] for packing in model.packings.values()}))


def _why_not(model: Classifier, method: str, together: bool = False) -> str:
    """Why a method cannot be run; empty where it can. Anything but one sentence of ours is raised."""
    settings = FEW.get(method, {})
    if "hidden_states" not in model.capabilities:
        settings = {name: value for name, value in settings.items() if name != "layer"}
    torch.manual_seed(0)  # for networks that draw
    try:
        for texts in [list(TEXTS)] if together else [[text] for text in TEXTS]:
            ask(model, texts, (method, settings), budget=1000)
    except (ModelCannot, ParityBroken) as error:
        return _short(error)
    return ""


def _short(error: Exception) -> str:
    """The first clause of a message without the model's name, fit for a cell of a table."""
    line = " ".join(str(error).split()).replace("|", "/")
    if isinstance(error, ParityBroken):
        return "its answer differs from call to call"
    if isinstance(error, ImportError):
        return line.partition(" but ")[0].replace("requires", "needs")
    return re.split(r"(?<=\w\w)[.:;] ", re.sub(r"(In )?\bsmall \S+ ", "", line))[0].rstrip(".")


def counts(rows: list[Row]) -> dict[str, int]:
    """How many families there are, and how many of them work."""
    return {
        "families": len(rows),
        "everything": sum(_everything(row) for row in rows),
        "some": sum(not row.refused and not _everything(row) for row in rows),
        "refused": sum(bool(row.refused) for row in rows),
        "without offsets": sum(slow_tokenizer(row.family) for row in rows),
    }


def _everything(row: Row) -> bool:
    return row.capabilities == OF_ENCODERS and not row.failing


def summary(rows: list[Row]) -> str:
    """The counts in words."""
    count = counts(rows)
    return (
        f"Of {count['families']} families, {count['everything']} run every method that a classifier with gradients, "
        f"hidden states and attention can run. {count['some']} run those that what they have allows, as the last "
        f"column says. {count['refused']} end in one sentence. For {count['without offsets']} the library has no fast "
        f"tokenizer; give one of your own."
    )


def section(rows: list[Row] | None = None) -> str:
    """The section of the capability page about every family."""
    rows = [row(family) for family in MAPPING] if rows is None else rows
    table = ["| family | capabilities | methods | in batches | what is missing |", "|---" * 5 + "|"]
    return "\n".join([HEAD, summary(rows), "", *table, *map(str, rows), ""])


def read(lines: list[str]) -> dict[str, Any]:
    """Family -> its row on the committed page."""
    cells = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in lines]
    return {cell[0]: cell[1:] for cell in cells if len(cell) == 5 and cell[0] in MAPPING}
