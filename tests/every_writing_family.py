"""What works with every family of language models in the library's mapping: one row a family.

python -m tests.every_writing_family --out docs/writing-families.md
"""

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

import pellucid
from pellucid.base.errors import PellucidError
from pellucid.base.kinds import attributions
from pellucid.models.load import wrap_writing
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.model import WRITING
from tests.shared.asking import FEW, ask
from tests.shared.families import TOKENIZERS, family_config, random_network
from tests.shared.tiny import byte_pairs_alone

MAPPING = tuple(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
PAIR = ("A good film.", "A fine story.")
# One of each way to look at a model: edits, gradients, states, weights, backward rules, paths.
METHODS = (
    "occlusion",
    "gradient_x_input",
    "grad_cam",
    "attention",
    "attention_norm",
    "relevance",
    "integrated_gradients",
)
HEAD = """# Language models, family by family

Made by `python -m tests.every_writing_family --out docs/writing-families.md`; not written by hand. One row a family of transformers'
own mapping of language models, as a small random model with a fast tokenizer. **Shows**: what its blocks show while it reads a
text. **Methods**: how many of {count} run that stand for all ({methods}). **Absent**: what a trial says of a word that is
taken out: left out behind the attention mask, with positions kept, or the rest closes up. **What is missing**: the reason, in the sentence
that a call ends in.
"""


@dataclass(frozen=True)
class Row:
    """What one family can do. shows: hidden states and attention. works: methods that run. absent: what becomes of a
    word that is taken out. notes: what is missing, or why nothing works.
    """

    family: str
    shows: tuple[str, ...] = ()
    works: int = 0
    absent: str = "–"
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        shows = ", ".join(self.shows) or "–"
        return f"| {self.family} | {shows} | {self.works} of {len(METHODS)} | {self.absent} | {'; '.join(self.notes) or '–'} |"


def family_model(family: str) -> WritingModel:
    """A language model of the family, wrapped as `pellucid.load` would."""
    tokenizer = TOKENIZERS.get(family, byte_pairs_alone)()
    config = family_config(family, tokenizer, is_decoder=True, is_encoder_decoder=False)
    return wrap_writing(random_network(AutoModelForCausalLM, config), tokenizer, f"small {family}")


def row(family: str) -> Row:
    """Run the methods on one pair."""
    try:
        model = family_model(family)
    except Exception as error:  # the library builds some families in parts of others only
        return Row(family, notes=(f"not built small: {_short(error)}",))
    try:
        shows = tuple(sorted(model.capabilities - {"gradient", WRITING}))
    except Exception as error:
        return Row(family, notes=(_short(error),))
    failing = [(name, why) for name in METHODS if (why := _why_not(model, name))]
    whys = dict.fromkeys(why for _, why in failing)
    notes = [", ".join(name for name, of in failing if of == why) + f": {why}" for why in whys]
    (whole,) = model.encode([pellucid.Example(PAIR)]).rows
    gapped = whole.keep(range(1, len(whole)))
    absent = "left out" if model.as_read([gapped])[0].positions == gapped.positions else "closes up"
    works = len(METHODS) - len(failing)
    return Row(family, shows, works, absent if works else "–", tuple(notes))


def _why_not(model: WritingModel, method: str) -> str:
    if lacks := attributions.get(method).facts["needs"] - model.capabilities:
        return f"no {' and '.join(sorted(lacks))}"
    try:
        ask(model, [PAIR], (method, FEW.get(method, {})), target=pellucid.Word(2))
    except PellucidError as error:
        return _short(error)
    except Exception as error:  # no sentence of ours: a fault that the table shows
        return f"{type(error).__name__}: {_short(error)}"
    return ""


def _short(error: Exception) -> str:
    """The beginning of a message, fit for a cell of a table."""
    line = " ".join(str(error).split()).replace("|", "/").replace("small ", "")
    return line if len(line) <= 160 else line[:157] + "…"


def page(rows: list[Row]) -> str:
    """The page in Markdown."""
    every = sum(one.works == len(METHODS) for one in rows)
    some = sum(0 < one.works < len(METHODS) for one in rows)
    summary = f"Of {len(rows)} families, {every} run every method, {some} some, {len(rows) - every - some} none."
    closing = sum(one.absent == "closes up" for one in rows)
    summary += f" In {closing} of those that run any, a word that is taken out is not left out and the rest closes up."
    table = ["| family | shows | methods | absent | what is missing |", "|---|---|---|---|---|", *map(str, rows)]
    head = HEAD.format(count=len(METHODS), methods=", ".join(f"`{name}`" for name in METHODS))
    return "\n".join([head, summary, "", *table, ""])


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--first", type=int, default=len(MAPPING), help="how many families, in the mapping's order")
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows = []
    for family in MAPPING[: wanted.first]:
        rows.append(row(family))
        print(rows[-1], flush=True)
    wanted.out.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
