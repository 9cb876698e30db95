"""Layers: what do the layers of four classifiers hold of each word, and do other methods say so too?

After Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", table 1, section 5.1
and 5.2.1, Figures 3, 5, 6 and 7. Four classifiers learn the sentences of SST-2: MiniLM, fine-tuned; a transformer, a
BiLSTM and a CNN from random vectors. Retained information of the states of all positions, layer by layer, and of what
the head reads; beside it the methods that the paper compares, on fewer texts and one seed. Texts are cut before seeds.

    python -m studies s3_layers --data FOLDER --work work/s3_layers --out studies/s3_layers

FOLDER holds train, dev and test as JSON lines. Finished trainings and scores are kept and not made again. `--size tiny`
takes seconds.
"""

from dataclasses import asdict
from functools import partial

from pellucid.base.processes import Share
from pellucid.explaining.answers import accuracy
from pellucid.models.classifiers.classifier import Classifier
from pellucid.run.hidden_target import HiddenState
from pellucid.text.example import Example
from studies.s3_layers.models import (
    MODELS,
    PRETRAINED,
    part,
    rows_of,
    trained,
    training_parts,
)
from studies.s3_layers.numbers import WORDS, X0, summarise
from studies.s3_layers.page import as_page
from studies.s3_layers.pictures import map_picture
from studies.s3_layers.rescaling import rescaled
from studies.s3_layers.scores import (
    HEAD,
    OURS,
    RIVALS,
    LayersSize,
    layer_sums,
    retained,
    settings_of,
)
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, Unit, text_digest

SMALL = LayersSize(12, 4, 3, None, 200, 200, tuple(MODELS))
QUICK = {
    OURS: {"n_steps": 4, "n_seeds": 1, "n_probes": 2},
    "guan_gradient": {"n_entries": 4},
    "guan_perturbation": {"n_steps": 2},
    "integrated_gradients": {"n_steps": 2},
}
TINY = LayersSize(2, 1, 1, 12, 4, 3, (PRETRAINED, "BiLSTM"), QUICK)
RESCALED, RESCALED_LAYER = (
    "BiLSTM",
    2,
)  # blocks one after the other, without sums around them: the factor can be undone exactly


@studies.add()
def s3_layers() -> Study:
    """What do the layers of four classifiers hold of each word? Figures 3 and 5 to 7 of Guan et al. (2019)."""
    return Study(
        sizes={"small": SMALL, "tiny": TINY},
        options=(DATA, WORK, ENCODER, DEVICE, FINISHED),
        work=UnitStages(
            {
                "models": model_units,
                "retained": retained_units,
                "rivals": rival_units,
                "rescaled": rescaled_units,
            }
        ),
        summary=lambda settings, records: summarise(records, about(settings)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"maps.svg": lambda settings, numbers: map_picture(numbers["maps"])},
    )


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """A training for each seed and model; seed by seed, so that what is finished can be compared."""
    return [
        _unit(settings, f"model-{name}-{seed}", partial(_train, settings, name, seed))
        for seed in range(settings.size.seeds)
        for name in settings.size.models
    ]


def retained_units(settings: Settings, records: Records) -> list[Unit]:
    """Retained information of every layer, for each seed and model that is trained."""
    return [
        _unit(settings, f"retained-{name}-{seed}", partial(_retained, settings, name, seed))
        for seed in range(settings.size.seeds)
        for name in settings.size.models
        if f"model-{name}-{seed}" in records["models"]
    ]


def rival_units(settings: Settings, records: Records) -> list[Unit]:
    """Each method of the paper, on each model of the first seed."""
    return [
        _unit(settings, f"{method}-{name}", partial(_layer_sums, settings, name, method))
        for name in settings.size.models
        if f"model-{name}-0" in records["models"]
        for method in (OURS, *RIVALS)
    ]


def rescaled_units(settings: Settings, records: Records) -> list[Unit]:
    """Each method on the classifier with a rescaled layer and without."""
    if f"model-{RESCALED}-0" not in records["models"]:
        return []
    return [_unit(settings, f"rescaled-{method}", partial(_rescaled, settings, method)) for method in (OURS, *RIVALS)]


def explained_texts(settings: Settings) -> list[Example]:
    """The test texts with the smallest digests."""
    return with_smallest_digests(part(settings.data, "test"), settings.size.texts)


def reference_texts(settings: Settings) -> list[Example]:
    """The train texts on which sigma_S and the scale are measured."""
    return with_smallest_digests(training_parts(settings)["train"], settings.size.reference)


def about(settings: Settings) -> Numbers:
    """What every number of the study depends on."""
    texts = {"test": explained_texts(settings), **training_parts(settings)}
    size = {name: value for name, value in asdict(settings.size).items() if name != "models"}
    return size | {"n_train": len(texts["train"]), "digest": text_digest(texts)}


def _unit(settings: Settings, name: str, work: "partial[Numbers]") -> Unit:
    return Unit(name, about(settings), work, settings.encoder, device=settings.device)


def _train(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    model = trained(settings, name, seed, share)
    right = accuracy(model, part(settings.data, "test"))
    return {"model": name, "seed": seed, "accuracy": right.mean, "digest": model.hash}


def _retained(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    model = trained(settings, name, seed)
    rows = rows_of(model, name) | {HEAD: HiddenState(HEAD)}
    of_method = settings_of(OURS, settings.size, reference_texts(settings))
    return {"model": name, "seed": seed} | retained(model, explained_texts(settings), rows, of_method, share)


def _layer_sums(settings: Settings, name: str, method: str, share: Share) -> Numbers:
    model = trained(settings, name, 0)
    texts = explained_texts(settings)[: settings.size.rivals]
    of_method = settings_of(method, settings.size, reference_texts(settings))
    return {"model": name, "method": method, X0: WORDS} | layer_sums(
        model, texts, method, rows_of(model, name), of_method
    )


def _rescaled(settings: Settings, method: str, share: Share) -> Numbers:
    """before, after: row -> [text], the layers from the rescaled one on."""
    model = trained(settings, RESCALED, 0)
    assert isinstance(model, Classifier)
    texts = explained_texts(settings)[: settings.size.rivals]
    rows = {row: one for row, one in rows_of(model, RESCALED).items() if int(row) >= RESCALED_LAYER}
    of_method = settings_of(method, settings.size, reference_texts(settings))
    before, after = (
        layer_sums(one, texts, method, rows, of_method) for one in (model, rescaled(model, RESCALED_LAYER))
    )
    return {"method": method, "layer": RESCALED_LAYER, "before": before, "after": after}
