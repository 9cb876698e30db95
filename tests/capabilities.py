"""The table of which methods work with which models, from runs of every method on a small random model of every kind.

python -m tests.capabilities --out docs/capabilities.md
"""

import argparse
import math
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from pellucid.attribution.gradient import ORTHOGONAL
from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import attributions
from pellucid.models.classifiers.function import from_function
from pellucid.models.classifiers.network import from_network
from pellucid.models.load import load_classifier
from pellucid.results.explanation import Explanation
from pellucid.run.model import Model
from tests.conftest import TEXTS
from tests.every_family import section as every_family
from tests.shared.asking import FEW, ask, residual
from tests.shared.small_networks import Bag, Convolutional, Layered, Recurrent, words
from tests.shared.tiny import FAMILIES, LABELS, MASKED, save_tiny, tiny_composed, tiny_on_vectors, with_tiny_head

ABSENT = "absent tokens"
HEAD = """# What works with what

Made by `make capabilities`: each cell is a run of the method on a small random model of the kind, written to disk and
read back, on five texts (one a pair, one with emoji and Hebrew). Two numbers stand in a cell, both rounded up to a power
of ten, in float32. **Parity**: how far the explained logits lie from those of the user's own call of the model with the
single text, relative to the logit. **Invariance**: how far the scores of a text in a batch lie from those of the text
alone, relative to the largest score (or to a thousandth of the logit, where that is more). A third number stands where
the method has a sum to keep: **completeness**, how far the scores miss the rise that they should add up to (methods with
a tolerance are asked for 1 %), or **conservation**, how much relevance is lost on its way, each relative to what should
be there, in the worst of the texts. Where a method is not possible, the capability that is missing stands in its place.

In ModernBERT and DeBERTa-v3 a norm follows the word embeddings at once: gradient x input is 0 there by construction, which
its results say. A new DeBERTa-v3 has the zero vector for its pad token, where that norm jumps: with `baselines="pad"` or
`"zero"` integrated gradients magnify rounding (give `baselines="mask"`), which their completeness gap tells.
"""


VECTORS = {
    "bilstm": "BiLSTM",
    "cnn": "CNN",
    "transformer": "Transformer",
}  # encoders of ours: their name, and how the page calls them
GAPS = ("completeness_gap", "conservation_gap")  # diagnostics that say how far a sum is off


@dataclass(frozen=True)
class Cell:
    """One method on one kind of model: why it does not work, or the residuals.

    gap: of completeness or conservation, where the method has one of them.
    """

    why_not: str | None
    parity: float = 0.0
    invariance: float = 0.0
    gap: float | None = None

    def __str__(self) -> str:
        rest = () if self.gap is None else (self.gap,)
        return self.why_not or " · ".join(map(_power, (self.parity, self.invariance, *rest)))


def _power(value: float) -> str:
    """Rounded up to a power of ten."""
    return "0" if value == 0 else f"1e{math.ceil(math.log10(value))}"


def _network(kind: type[Bag]) -> Model:
    torch.manual_seed(5)
    network = kind().eval()
    return from_network(
        network,
        tokenize=words,
        logits=network,
        embedding=network.embedding,
        layers=getattr(network, "layers", None),
        labels=LABELS,
        separator=599,
    )


def _answers(texts: list) -> list[list[float]]:
    """A function of texts: softmax of three counts."""
    counts = [[len(str(text)), str(text).count("e") * 9, str(text).count(" ") * 5] for text in texts]
    return (torch.tensor(counts) / 20.0).softmax(-1).tolist()


def kinds() -> dict[str, Callable[[Path], Model]]:
    """How to make a small random model of every kind, in a folder."""
    families = {name: partial(_family, name) for name in FAMILIES}
    composed = {
        f"BERT + {pooler} pooler": partial(_composed, pooler)
        for pooler in ("span", "additive", "dot", "rationale", "mean", "first_token")
    }
    composed["BERT + mean pooler, B-cos layers"] = lambda _: tiny_composed("mean", layer_form="b_cos")
    composed |= {f"{encoder} + span pooler": partial(_on_vectors, name) for name, encoder in VECTORS.items()}
    own = {"own LSTM": Recurrent, "own CNN": Convolutional, "own bag of words": Bag, "own layers": Layered}
    networks = {name: partial(_own, kind) for name, kind in own.items()}
    return {**families, **composed, **networks, "any function": lambda _: from_function(_answers, LABELS)}


def _family(name: str, folder: Path) -> Model:
    """A family's classifier; where the family has masked-LM heads, with one."""
    classifier = load_classifier(save_tiny(folder / name, name, LABELS))
    return with_tiny_head(classifier, name) if name in MASKED else classifier


def _composed(pooler: str, folder: Path) -> Model:
    return tiny_composed(pooler)


def _on_vectors(encoder: str, folder: Path) -> Model:
    return tiny_on_vectors(encoder)


def _own(kind: type[Bag], folder: Path) -> Model:
    return _network(kind)


def column(model: Model, texts: Sequence = TEXTS) -> dict[str, str]:
    """The column of a model: a cell a method, and how the model leaves tokens out."""
    cells = {method: str(cell(model, method, texts)) for method in attributions.names()}
    return cells | {ABSENT: absent(model)}


def cell(model: Model, method: str, texts: Sequence) -> Cell:
    """Run the method on the texts together and one by one."""
    entry = attributions.get(method)
    exact = {"tolerance": 0.01} if {"tolerance", "n_steps"} <= set(entry.defaults) else {}
    choice = (method, FEW.get(method, {}) | exact)
    try:
        together = ask(model, texts, choice, budget=1000)
    except ModelCannot as error:
        for_the_layer = {"hidden_states"} if "layer" in choice[1] else set()
        lacking = (attributions.get(method).facts["needs"] | for_the_layer) - model.capabilities
        return Cell("no " + ", ".join(sorted(lacking)) if lacking else _briefly(error))
    if all(ORTHOGONAL in explanation.caveats for explanation in together):
        return Cell("0 by construction")
    alone = [ask(model, [text], choice)[0] for text in texts]
    gaps = [
        float(np.abs(one.scores - other.scores).max() / _size(other))
        for one, other in zip(together, alone, strict=True)
    ]
    parity = max(map(residual, together))
    gaps_by_sums = [
        explanation.diagnostics[name] for explanation in together for name in GAPS if name in explanation.diagnostics
    ]
    return Cell(None, parity, max(gaps), max(gaps_by_sums) if gaps_by_sums else None)


def _size(explanation: Explanation) -> float:
    """The largest score, or a thousandth of the explained value where all scores are smaller and mostly rounding."""
    return max(float(np.abs(explanation.scores).max()), 1e-3 * abs(explanation.target.value), 1e-12)


def _briefly(error: ModelCannot) -> str:
    """A reason short enough for a cell: its first sentence, up to the first colon or semicolon."""
    return re.split(r"[.:;]", str(error))[0].replace("|", "/")


def absent(model: Model) -> str:
    """How the model leaves tokens out."""
    skips = getattr(model, "skips_gaps", None)
    if skips is not None:
        return "not computed" if skips(64) else "computed behind the attention mask"
    return "the text without them" if model.name == "function" else "the rest closes up"


def page() -> str:
    """The whole page in Markdown: a row a method, a column a model."""
    with tempfile.TemporaryDirectory() as folder:
        columns = {name: column(make(Path(folder))) for name, make in kinds().items()}
    table = [f"| method | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for method in attributions.names():
        table.append(f"| {method} | {' | '.join(cells[method] for cells in columns.values())} |")
    left_out = ["| model | absent tokens, in rows of up to 64 |", "|---|---|"]
    left_out += [f"| {name} | {cells[ABSENT]} |" for name, cells in columns.items()]
    return "\n".join([HEAD, *table, "", TAIL, *left_out, "", every_family()])


TAIL = """## Tokens that are absent

A text without some of its tokens keeps the positions of the others. Where the model then answers as if the absent tokens
were there and not attended, they are not computed at all; this is tried on the model itself, once for each size of text,
and never assumed from its name. ModernBERT passes where the text fits its local window (16 tokens in this small one).
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    torch.set_num_threads(1)
    parser.parse_args().out.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
