"""The attention models of Tutek & Šnajder (2020): a BiLSTM on frozen word vectors, an attention over words, and what
ties both.

"Staying True to Your Word: (How) Can Attention Become Explanation?", section 3.1 and table 4. `hyper_parameters` has
the paper's values beside ours.
"""

from dataclasses import dataclass, replace
from typing import Any

from pellucid.models.composed.networks import Plan, Settings
from pellucid.training.recipe import Recipe

VARIANTS = ("base", "concat", "residual", "tying", "masked_words")
DECEPTIVE = "deception"  # a test of tests: its weights leave the words that people marked
WEIGHTED = ("tying", "masked_words")  # those whose weight is chosen on dev
PAPER_NAMES = {
    "base": "Base",
    "concat": "Concat",
    "residual": "Resid",
    "tying": "Tying",
    "masked_words": "MLM",
}
SIGNS = {"tying": "δ", "masked_words": "η"}
# Times MiniLM's word vectors, whose numbers have a standard deviation of .0556. That of GloVe's (840B words, 300
# numbers) is .488 by what published programs draw vectors of unknown words from; it was not measured here, where the
# file is out of reach. Over MiniLM's own, dot attention stays uniform (study s4_start).
GLOVE_SCALE = 8.8
# What the weights are where no choice is handed on: 1, which is in both of the paper's lists.
USUAL_WEIGHTS = {"tying": 1.0, "masked_words": 1.0}


@dataclass(frozen=True)
class AttentionModel:
    """One of the models. pooler: "additive" or "dot". variant: of VARIANTS, or DECEPTIVE. weight: of its penalty or
    objective, else 0.

    query_start: of the pooler "dot". as_published: whether masked words have the paper's loss, a sum without
    frequencies (corrections.md A4.7). vector_scale: how many times as large word vectors begin as MiniLM's are.
    """

    pooler: str
    variant: str
    weight: float = 0.0
    layers: int = 1
    query_start: str = "normal"
    as_published: bool = False
    vector_scale: float = 1.0

    @property
    def name(self) -> str:
        """A name of files, such as "additive-tying-10"."""
        weight = [f"{self.weight:g}"] if self.weight else []
        layers = [f"{self.layers}layers"] if self.layers > 1 else []
        start = [self.query_start] if self.query_start != "normal" else []
        published = ["published"] if self.as_published else []
        scale = [f"vectors{self.vector_scale:g}"] if self.vector_scale != 1 else []
        return "-".join([self.pooler, self.variant, *weight, *layers, *start, *published, *scale])

    def plan(self, labels: tuple[str, ...], width: int | None = None) -> Plan:
        """Its parts. width: numbers of a random word vector and of a state; None: MiniLM's vectors, and states as
        wide.
        """
        encoder: Settings = {"dropout": 0.0, "layers": self.layers}
        if width is not None:
            encoder |= {"vectors": "random", "vector_width": width, "width": width}
        if self.variant in ("concat", "residual"):
            encoder["retention"] = self.variant
        if self.vector_scale != 1:
            encoder["vector_scale"] = self.vector_scale
        pooler: Settings = {} if self.query_start == "normal" else {"query_start": self.query_start}
        return Plan("bilstm", self.pooler, pooler, labels, encoder_settings=encoder)

    def recipe(self, epochs: int, seed: int, batch_size: int = 32) -> Recipe:
        """How it is trained: alike for all variants, word vectors frozen (corrections.md A4.7). batch_size: texts a
        step.
        """
        changes: dict[str, Any] = {}  # Any: fields of a recipe
        if self.variant == "tying":
            changes["penalties"] = {"tying": self.weight}
        if self.variant in ("masked_words", DECEPTIVE):
            changes["objectives"] = {self.variant: self.weight}
        if self.as_published:
            changes["objective_settings"] = {self.variant: {"reduction": "sum", "frequencies": False}}
        return replace(RECIPE, epochs=epochs, seed=seed, batch_size=batch_size, **changes)


RECIPE = Recipe(
    learning_rate=1e-3,
    new_parts_factor=1.0,
    weight_decay=1e-5,
    warmup=0.0,
    clip=5.0,
    precision="float32",
    freeze_vectors=True,
)


def hyper_parameters(batch_size: int = 32) -> list[list[str]]:
    """Table 4: name, the paper's value, ours; read from plan and recipe. batch_size: texts a step."""
    model = AttentionModel("additive", "masked_words", USUAL_WEIGHTS["masked_words"])
    recipe = model.recipe(1, 0, batch_size)
    return [
        ["word vectors", "300, GloVe or fastText", "384, MiniLM's"],
        ["states, each direction", "150", "192"],
        ["learning rate", "1e-3", f"{recipe.learning_rate:g}, falling to 0 in a line"],
        ["largest norm of a gradient", "5", f"{recipe.clip:g}"],
        ["texts a step", "32", f"{recipe.batch_size}"],
        ["weight decay", "1e-5", f"{recipe.weight_decay:g}, apart from the loss"],
        ["share of pieces that are masked", "0.15", "0.15"],
        ["word vectors frozen", "for MLM; others unsaid", "for all" if recipe.freeze_vectors else "for none"],
        ["dropout", "unsaid", f"{model.plan(('a', 'b')).encoder_settings['dropout']:g}"],
    ]
