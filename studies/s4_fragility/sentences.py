"""Sentences of our own, word by word, as the kept models read them: what figures 2 to 7 show of sentences of the
corpora.
"""

import time
from collections.abc import Mapping
from functools import partial

from pellucid.attention.question import plotted
from pellucid.attention.weighed_texts import weighed_texts
from pellucid.base.processes import Share
from pellucid.text.example import Example
from studies.s4_fragility.trainings import Lesson, trained_model, training_about
from studies.shared.attention_models import RECIPE, AttentionModel
from studies.shared.study import Settings
from studies.shared.units import Numbers, Unit

DRAWN = ("base", "residual", "tying", "masked_words")
_REVIEWS = (
    "a slow start , but the last half hour is funny , tender and beautifully played .",
    "two good actors cannot save a plot this lazy and dull .",
    "i expected very little and left the theatre smiling .",
)
_NOTES = (
    "patient admitted with chronic anemia , stable on iron .",
    "acute blood loss after surgery , two units transfused .",
)
SENTENCES: Mapping[str, tuple[str, ...]] = {
    "sst2": _REVIEWS,
    "imdb": _REVIEWS,
    "pocket": _REVIEWS,
    "ag_news": (
        "shares of the airline fell after it cut its profit forecast for the second time this year .",
        "soldiers and protesters clashed in the capital hours before the election .",
        "the two governments signed a deal on oil prices after a week of talks .",
    ),
    "newsgroups": (
        "the goalie stopped thirty shots and they won in overtime .",
        "he threw a shutout and struck out ten in eight innings .",
        "does anyone know where i can find last night 's scores ?",
    ),
    "anemia": _NOTES,
    "diabetes": _NOTES,
}


def sentences_unit(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson) -> Unit:
    """The task's sentences as one model reads them."""
    sentences = SENTENCES[settings.own["task"]]
    return Unit(
        f"{model.name}-{seed}-sentences",
        training_about(model, seed, lesson) | {"sentences": sentences},
        partial(_read, settings, model, seed, lesson, sentences),
        precision=RECIPE.precision,
        device=settings.device,
    )


def _read(
    settings: Settings,
    model: AttentionModel,
    seed: int,
    lesson: Lesson,
    sentences: tuple[str, ...],
    share: Share,
) -> Numbers:
    """plots: of each sentence the fields of `UnitPlot`."""
    began = time.perf_counter()
    examples = [Example((sentence,), id=sentence) for sentence in sentences]
    with trained_model(settings, model, seed, lesson, share) as classifier:
        texts = weighed_texts(classifier, examples)
        plots = [plotted(text, one, classifier.labels) for text, one in zip(texts, examples, strict=True)]
    return {"variant": model.variant, "seed": seed, "plots": plots, "seconds": time.perf_counter() - began}
