"""What every registered objective promises: a new file is tested because it exists.

What an objective needs besides a tiny model (another model, marks) is given by what it declares; nothing here names
one.
"""

from dataclasses import replace

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import objectives, poolers
from pellucid.models.composed.networks import Plan
from pellucid.text.example import Example, Rationale
from pellucid.training.objective import (
    READ_BY_OBJECTIVES,
    ObjectiveContext,
    StepPart,
    check_objectives,
    objective_defaults,
    objective_fits,
    objectives_of,
)
from pellucid.training.recipe import Recipe
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import LABELS, parts, trained

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth the evening.")
EXAMPLES = [
    Example((text,), label="positive", rationales=(Rationale(0, 0, 4),) if " " in text else ()) for text in TEXTS
]
NAMES = objectives.names()


def marked(examples):
    """Examples with their first four characters marked."""
    return [replace(one, rationales=(Rationale(0, 0, 4),)) for one in examples]


def pooler_of(name):
    return next(pooler for pooler in ("additive", "span", *poolers.names()) if objective_fits(name, pooler))


@pytest.fixture(scope="module")
def base(encoder, tmp_path_factory):
    """Models that others can imitate, by pooler."""
    folders = {}

    def folder(pooler):
        if pooler not in folders:
            folders[pooler] = tmp_path_factory.mktemp("base") / pooler
            trained(encoder, folders[pooler], pooler=pooler, epochs=1)
        return folders[pooler]

    return folder


def pooler_settings_of(name):
    setting = objectives.get(name).facts["pooler_setting"]
    return {setting: 2} if setting else {}


def recipe_for(name, base, weight=1.0):
    setting = objectives.get(name).facts["model"]
    settings = {name: {setting: str(base(pooler_of(name)))}} if setting else {}
    frozen = bool(objective_defaults({name: 1.0}).get("freeze_vectors"))
    return {"objectives": {name: weight}, "objective_settings": settings, "freeze_vectors": frozen}


def objective_on(name, base, examples=EXAMPLES):
    """The objective of a tiny classifier, and a function from numbers of texts to their losses after some steps."""
    classifier = tiny_composed(pooler_of(name), **pooler_settings_of(name))
    classifier.network.double()
    context = ObjectiveContext(
        classifier, classifier.encode(examples), Recipe(**recipe_for(name, base), precision="float32")
    )
    [(_, objective)] = objectives_of(context)

    def losses(indices, done=3):
        output = classifier.network(**classifier.place(context.rows(indices)))
        return objective.losses(StepPart(indices, output, done))

    return classifier.network, losses


def losses_of(name):
    """The numbers of three texts, by an objective that needs no other model."""
    return objective_on(name, base=None)[1]([0, 1, 2])


@pytest.mark.parametrize("name", NAMES)
def test_it_reads_something_that_a_pooler_gives(name):
    assert objectives.get(name).facts["reads"] in READ_BY_OBJECTIVES
    assert pooler_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_one_finite_number_a_text_and_a_finite_gradient(name, base):
    network, losses = objective_on(name, base)
    values = losses([0, 1, 2])
    assert values.shape == (3,) and values.isfinite().all()
    values.mean().backward()
    gradients = [each.grad for each in network.parameters() if each.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.any() for gradient in gradients)


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_a_text_depends_on_that_text_alone(name, base):
    """So that a batch in parts has the loss of the whole batch."""
    _, losses = objective_on(name, base)
    with torch.no_grad():
        together = losses([2, 0, 1])
        alone = torch.cat([losses([number]) for number in (2, 0, 1)])
    torch.testing.assert_close(together, alone, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_step_gives_the_same_number(name, base):
    """Whatever was drawn before: so a killed training can go on."""
    _, losses = objective_on(name, base)
    first = losses([0, 1, 2]).detach()
    torch.rand(7)
    assert torch.equal(losses([0, 1, 2]).detach(), first)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_on_it_alone_lowers_it(name, base):
    network, losses = objective_on(name, base)
    optimizer = torch.optim.SGD([each for each in network.parameters() if each.requires_grad], lr=1e-4)
    values = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = losses([0, 1, 2]).mean()
        loss.backward()
        optimizer.step()
        values.append(float(loss.detach()))
    assert values[1] < values[0]


@pytest.mark.parametrize("name", NAMES)
def test_with_weight_0_it_asks_nothing_and_fits_every_pooler(name):
    for pooler in poolers.names():
        plan = Plan("tiny", pooler, {"weights": "uniform"}, LABELS)
        check_objectives(Recipe(objectives={name: 0.0}), plan)
    context = ObjectiveContext(None, None, Recipe(objectives={name: 0.0}))
    assert objectives_of(context) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_pooler_without_what_it_reads_is_refused(name, base):
    recipe = Recipe(**recipe_for(name, base))
    for pooler in poolers.names():
        plan = Plan("tiny", pooler, pooler_settings_of(name), LABELS)
        if objective_fits(name, pooler):
            check_objectives(recipe, plan)
        else:
            with pytest.raises(BadSetting, match=f"{name} reads .*, which pooler={pooler!r} does not have; give"):
                check_objectives(recipe, plan)


@pytest.mark.parametrize("name", [name for name in NAMES if pooler_settings_of(name)])
def test_a_pooler_without_the_setting_that_it_needs_is_refused(name, base):
    with pytest.raises(
        BadSetting, match=f"The objective {name} would change nothing without .*; give pooler_settings="
    ):
        check_objectives(Recipe(**recipe_for(name, base)), Plan("tiny", pooler_of(name), {}, LABELS))


def run(encoder, folder, name, base, fatal=-1):
    """Train with the objective, and count moments."""
    data = {split: marked(examples) for split, examples in parts().items()}
    changes = {"penalties": {}, "epochs": 2, **recipe_for(name, base)}
    with Moments(fatal) as moments:
        trained(
            encoder,
            folder,
            moments.progress,
            data=data,
            pooler=pooler_of(name),
            pooler_settings=pooler_settings_of(name),
            **changes,
        )
    return moments


def long_but_once(name):
    """One training of each kind of reading is killed in the suite: the number of a step is the same after anything, as
    a test above says of every objective.
    """
    reads = objectives.get(name).facts["reads"]
    first = next(each for each in NAMES if objectives.get(each).facts["reads"] == reads)
    return pytest.param(name, marks=[] if name == first else [pytest.mark.long])


@pytest.mark.whole
@pytest.mark.parametrize("name", [long_but_once(name) for name in NAMES])
def test_a_killed_training_ends_with_the_same_bytes(encoder, tmp_path, name, base):
    """In the middle of its work; other moments, the last one among them, are those of `test_resume.py`: they are every objective's."""
    base(pooler_of(name))
    fatal, folder = run(encoder, tmp_path / "whole", name, base).count // 2, tmp_path / "killed"
    killed(lambda *args: run(*args, fatal=fatal), encoder, folder, name, base)
    assert (folder / "checkpoint.safetensors").exists()
    run(encoder, folder, name, base)
    assert files_of(folder) == files_of(tmp_path / "whole"), f"killed at moment {fatal}"
