"""Do weights of attention show the reason where it is known? Planted reasons, and a model that is trained to hide its
reason.

Beyond Tutek and Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", whose conclusion
asks for texts with known reasons. Plain, tied and masked-words models learn four planted reasons; where edits of the
texts show that a reason was learnt, the study asks whether the weights rank its words first, and whether the verdict of
`pellucid attention`, which does not know the reason, says so. And after Pruthi et al. (2020), "Learning to Deceive with
Attention-Based Explanations", a model learns to keep its weights off the pronouns that decide its answers.

    python -m studies s4_verdicts --data FOLDER --choice studies/s4_fragility/sst2 --work work/s4_verdicts \\
        --out studies/s4_verdicts

FOLDER holds texts with marked words as JSON lines, as of gender_pronoun, whose marks are in the field `impermissible`.
--choice is the folder of s4_fragility whose weights are used; without it they are 1. Finished trainings are kept
and not made again; the size small takes about 30 minutes of one core. `--size tiny --data pocket` takes seconds.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

from pellucid.base.kinds import datasets, reasons
from pellucid.data.load import load_examples
from pellucid.data.plant import CLASSES, PARTS, carrier_parts, plant
from pellucid.text.example import Example
from studies.s4_fragility.choice import CHOICE, weights_or_usual
from studies.s4_fragility.trainings import KEEP_MODELS, Lesson, training_about
from studies.s4_verdicts.page import as_page
from studies.s4_verdicts.summary import summarise
from studies.s4_verdicts.units import deception_numbers, planted_numbers
from studies.s4_verdicts.verdicts import MARKED
from studies.shared.attention_models import DECEPTIVE, AttentionModel
from studies.shared.equal_scores import EqualScores
from studies.shared.options import DATA, DEVICE, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, Unit

VARIANTS = ("base", "tying", "masked_words")
DECOYED = 0.9  # the share of train texts whose decoy goes with the label
MARKS = "impermissible"  # the field of the marked words


@dataclass(frozen=True)
class VerdictsSize:
    """reasons: planted ones -> epochs. planted: train texts of each. train, dev, test, epochs: of the model that
    deceives. width: of random word vectors; None: MiniLM's. batch_size: texts a step.
    """

    reasons: Mapping[str, int]
    planted: int
    train: int
    dev: int
    test: int
    epochs: int
    seeds: int
    batch_size: int = 8
    width: int | None = None


SIZES = {
    "tiny": VerdictsSize({"token": 1, "order": 1}, 20, 24, 9, 12, 1, 2, width=8),
    "small": VerdictsSize({"token": 8, "token_pair": 8, "order": 6, "span": 5}, 1_000, 2_500, 400, 600, 5, 3),
}


@studies.add()
def s4_verdicts() -> Study:
    """Do weights of attention show a reason that is known, and what of a model that is trained to hide it?"""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, CHOICE, KEEP_MODELS, DEVICE, FINISHED),
        work=UnitStages({"planted": planted_units, "deception": deception_units}),
        summary=lambda settings, records: summarise(about(settings), records, classes_of_texts(settings)),
        page=lambda settings, numbers: as_page(numbers),
        equal_scores=EqualScores(
            "average precision took equal scores as one threshold",
            "Its methods seldom give two words the same score, so little should change.",
            stage="planted",
        ),
    )


def planted_units(settings: Settings, records: Records) -> list[Unit]:
    """A training of each reason and variant with each seed, seed by seed."""
    weights = weights_or_usual(settings.own["choice"])
    return [
        _planted_unit(settings, reason, AttentionModel("additive", variant, weights.get(variant, 0.0)), seed)
        for seed in range(settings.size.seeds)
        for reason in settings.size.reasons
        for variant in VARIANTS
    ]


def deception_units(settings: Settings, records: Records) -> list[Unit]:
    """The model that deceives beside the plain one, with each seed."""
    lesson = _deception_lesson(settings)
    return [
        Unit(
            f"deception-{model.variant}-{seed}",
            training_about(model, seed, lesson),
            partial(deception_numbers, settings, model, seed, lesson),
            precision="float32",
            device=settings.device,
        )
        for seed in range(settings.size.seeds)
        for model in (AttentionModel("additive", "base"), AttentionModel("additive", DECEPTIVE, 1.0))
    ]


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    lesson = _deception_lesson(settings)
    return {
        **asdict(settings.size),
        "variants": list(VARIANTS),
        "weights": weights_or_usual(settings.own["choice"]),
        "own_weights": not settings.own["choice"],
        **{f"n_{split}": len(texts) for split, texts in lesson.parts.items()},
    }


def classes_of_texts(settings: Settings) -> dict[str, list[str]]:
    """Reason -> the class of each judged text."""
    judged = {one: _planted(one, settings.size.planted)["test"] for one in settings.size.reasons}
    judged[MARKED] = [text for text in _deception_lesson(settings).parts["test"] if text.rationales]
    return {reason: [str(text.label) for text in texts] for reason, texts in judged.items()}


def _planted_unit(settings: Settings, reason: str, model: AttentionModel, seed: int) -> Unit:
    size = settings.size
    lesson = Lesson(_planted(reason, size.planted), CLASSES, size.reasons[reason], size.batch_size, size.width)
    return Unit(
        f"{reason}-{model.variant}-{seed}",
        training_about(model, seed, lesson) | {"reason": reason},
        partial(planted_numbers, settings, reason, model, seed, lesson),
        precision="float32",
        device=settings.device,
    )


@cache
def _planted(reason: str, n: int) -> dict[str, list[Example]]:
    """The same texts for all seeds."""
    return plant(carrier_parts("pocket"), reasons.calls([reason])[0], n=n, distractor=DECOYED, seed=0)


def _deception_lesson(settings: Settings) -> Lesson:
    size = settings.size
    parts = _marked_parts(settings.data, size.train, size.dev, size.test)
    labels = tuple(sorted({one.label for one in parts["train"] if one.label is not None}))
    return Lesson(parts, labels, size.epochs, size.batch_size, size.width)


@cache
def _marked_parts(data: str, *most: int) -> dict[str, list[Example]]:
    """Texts with marks; a registered data set declares its own."""
    reader: dict[str, Any] = {} if data in datasets.names() else {"evidence": MARKS}
    return {
        split: with_smallest_digests(load_examples(data, split, **reader), count)
        for split, count in zip(PARTS, most, strict=True)
    }
