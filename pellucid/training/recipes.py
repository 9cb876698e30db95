"""What a training is given: its recipe, with defaults for pooler and encoder, named recipes, and its texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pellucid.base.checks import known, listed, mapping
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import encoders
from pellucid.data.shared.part_files import split_parts
from pellucid.data.shared.repeated_texts import say_repeated_in_file, say_repeated_in_parts
from pellucid.data.shared.rows import say_odd_classes
from pellucid.explaining.inputs.examples import examples_from
from pellucid.run.target import Problem
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap, label_names, renamed
from pellucid.training.objective import objective_defaults, weighs_all_alike
from pellucid.training.recipe import Recipe

# On six corpora at most half a point less accurate than a plain model, in the mean: docs/papers/believable-spans.md.
USUAL = "believable"
# With one of these a call says itself how weights become sharp, or what else is learnt: then no recipe is taken by
# itself.
OWN_WAY = ("spans", "sharp_from", "objectives", "objectives_from", "objective_settings")
# Where a call has its own way and names no penalty. Tried on the dev parts of SST-2, SST-5 and pocket. The gradient of
# the paper's penalty vanishes while the weights are spread and grows as they gather. So its lambda does nothing or
# everything, and which of both depends on the number of steps. The gradient of the entropy (the paper's footnote 2)
# does not. studies/sst2_twins: what sharpness costs.
SPAN_RECIPE: dict[str, Any] = {"penalties": {"entropy": 0.1}}


@dataclass(frozen=True)
class NamedRecipe:
    """Settings of pooler="span" that belong together. recipe: fields of `Recipe`."""

    recipe: Mapping[str, Any]
    pooler_settings: Mapping[str, Any] = field(default_factory=dict)


NAMED = {
    # Sun et al. (2020), equation 7: their penalty, with weight 1 (corrections.md A0.2); nothing else is learnt.
    "sun2020": NamedRecipe({"penalties": {"concentration": 1.0}}),
    # Spans that are evidence: two of a few words, which are all that the answer uses, and enough by themselves. First
    # the model learns to decide, then to decide by two spans and by their words alone; the answer that all spans would
    # give goes on learning, since through two spans the labels reach few states. No penalty: two spans are sharp
    # enough.
    "believable": NamedRecipe(
        {
            "penalties": {},
            "sharp_from": 0.33,
            "objectives": {"answer_by_all_spans": 1.0, "read_alone": 1.0},
            "objectives_from": 0.33,
            "objective_settings": {"read_alone": {"n_spans": 2, "share": 0.5}},
        },
        {"n_heaviest": 2, "max_width": 4, "spans": "with_content"},
    ),
}


@dataclass(frozen=True)
class TrainingSettings:
    """What a call of `train` trains a pooler by: the pooler's settings, and the recipe, each with what a recipe by name
    brings.
    """

    pooler_settings: dict[str, Any]
    recipe: Recipe


def training_settings(
    pooler: str,
    encoder: str,
    *,
    seed: int,
    penalties: Mapping[str, float] | None = None,
    pooler_settings: Mapping[str, Any] | None = None,
    recipe: str | None = None,
    **changes: Any,
) -> TrainingSettings:
    """The settings of a call of `train`; where it names no recipe, those of the usual one. Arguments and errors are
    those of `recipe_of`.
    """
    call_settings = pooler_settings or {}
    name = usual_recipe(pooler, encoder, call_settings, penalties, changes) if recipe is None else recipe
    settings = named_pooler_settings(name, pooler, call_settings)
    return TrainingSettings(settings, recipe_of(pooler, seed, penalties, encoder, settings, name, **changes))


def usual_recipe(
    pooler: str,
    encoder: str,
    pooler_settings: Mapping[str, Any],
    penalties: Mapping[str, float] | None,
    changes: Mapping[str, Any],
) -> str | None:
    """The recipe of a call of `train` that names none: `USUAL` for span weights that a pretrained encoder learns, where
    it was judged.

    pooler_settings, penalties, changes: what the call gives itself; where they say how weights become sharp, there is
    no usual recipe.
    """
    says_how = (
        penalties is not None
        or "n_heaviest" in pooler_settings
        or any(changes.get(name) is not None for name in OWN_WAY)
    )
    learns = pooler == "span" and not weighs_all_alike(pooler_settings)
    return USUAL if learns and not says_how and encoder not in encoders.names() else None


def recipe_of(
    pooler: str,
    seed: int,
    penalties: Mapping[str, float] | None,
    encoder: str = "minilm",
    pooler_settings: Mapping[str, Any] | None = None,
    recipe: str | None = None,
    **settings: Any,
) -> Recipe:
    """The recipe of a call of `train`.

    pooler, encoder, pooler_settings: what the defaults depend on. seed: the recipe's. penalties: name -> weight; None
    for the pooler's default. recipe: the name of a recipe to begin with, one of `NAMED`; None: no recipe. settings:
    other fields of `Recipe`. Raises `UnknownName` for a field or recipe that does not exist, `BadSetting` for one that
    does not fit the pooler.
    """
    for name in settings:
        known("setting of training", name, Recipe.__dataclass_fields__)
    learns_weights = pooler == "span" and not weighs_all_alike(pooler_settings or {})
    default = _of_spans(recipe, settings) if learns_weights else {}
    if recipe is not None and not learns_weights:
        known("recipe", recipe, NAMED)
        raise BadSetting(
            f"The recipe {recipe} trains weights of spans, which only pooler='span' with weights='learned' has; leave "
            f"the recipe away, or give that pooler."
        )
    if encoder in encoders.names():  # all its parts are new, and learn at one rate
        default = {
            **default,
            "learning_rate": encoders.get(encoder).facts["learning_rate"],
            "new_parts_factor": 1.0,
        }
    default = {**default, **objective_defaults(mapping("objectives", settings.get("objectives") or {}))}
    call_penalties = {} if penalties is None else {"penalties": dict(penalties)}
    return Recipe(**{**default, **call_penalties, **settings, "seed": seed})


def named_pooler_settings(recipe: str | None, pooler: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The pooler's settings: those of a recipe by name, where it fits, and before them the user's own."""
    fits = recipe in NAMED and pooler == "span" and not weighs_all_alike(settings)
    return {**(NAMED[str(recipe)].pooler_settings if fits else {}), **settings}


def _of_spans(recipe: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a span model with learnt weights begins with. settings: those of the call, which replace or add to it."""
    if recipe is None:
        return {} if settings.get("spans") is not None else dict(SPAN_RECIPE)
    known("recipe", recipe, NAMED)
    named = dict(NAMED[recipe].recipe)
    if settings.get("spans") is not None:
        named["penalties"] = {}
    if "objectives" in settings:  # settings of those that are left away would be refused
        wanted = settings["objectives"] or {}
        wanted_settings = {
            name: setting for name, setting in named.get("objective_settings", {}).items() if name in wanted
        }
        named["objective_settings"] = wanted_settings
    return named


# Texts in memory to train on: cut as one file is, or in the parts that they came in.

DEV = ("dev", "validation")  # the names of the part that chooses the epoch


@dataclass(frozen=True)
class TrainingTexts:
    """Labelled examples by part, "train" and "dev", and "test" where there is one; split: the part that is meant."""

    parts: Mapping[str, Sequence[Example]]
    are_cut: bool
    split: str = "train"

    def with_split(self, split: str) -> "TrainingTexts":
        """Another part of the same texts."""
        return replace(self, split=split)

    def training_part(self) -> list[Example]:
        """The examples of the part; raises `BadInput` where there is none."""
        if self.split not in self.parts:
            raise BadInput(f"The data have no part {self.split}; they have {listed(self.parts)}.")
        return list(self.parts[self.split])

    def training_parts(self) -> dict[str, list[Example]]:
        """The parts that training sees: "train" and "dev". Warns of texts that occur several times."""
        if self.are_cut:
            say_repeated_in_file(self.parts)
        else:
            say_repeated_in_parts({name: self.parts[name] for name in ("train", "dev")})
        return {name: list(self.parts[name]) for name in ("train", "dev")}

    def classes(self, train: Sequence[Example], problem: Problem) -> tuple[str, ...]:
        """The labels of the train texts, sorted; raises `BadInput` for fewer than two."""
        several = problem == "multi_label"
        classes = sorted({name for example in train for name in label_names(example.label, several)})
        if not train:
            raise BadInput("There are no texts to learn from.")
        if len(classes) < 2:
            raise BadInput(
                f"A classifier needs two classes or more; the labels of the texts are: {listed(classes) or 'none'}."
            )
        say_odd_classes(classes)
        return tuple(classes)


def training_texts(
    data: Any,
    text: str | Sequence[str] | None,
    label: str | None,
    label_map: LabelMap | None,
    skip_bad_rows: bool = False,
) -> TrainingTexts:
    """The texts to train on from data in memory.

    data: labelled texts, which are cut into 70 / 15 / 15 %; or a mapping of parts, "train" and "dev" (or "validation"),
        and "test" where there is one. The others are as in `train`.
    """

    def read(part: Any) -> tuple[Example, ...]:
        return examples_from(part, text=text, label=label, label_map=label_map, skip_bad_rows=skip_bad_rows)

    def mapped(parts: Mapping[str, Sequence[Example]]) -> dict[str, Sequence[Example]]:
        return {name: part if label_map is None else renamed(part, label_map) for name, part in parts.items()}

    dev = next((name for name in DEV if isinstance(data, Mapping) and {"train", name} <= data.keys()), None)
    if dev is None:  # cut under the labels that came, as a file is
        return TrainingTexts(mapped(split_parts(read(data))), are_cut=True)
    names = {"train": "train", "dev": dev} | ({"test": "test"} if "test" in data else {})
    return TrainingTexts(mapped({part: read(data[name]) for part, name in names.items()}), are_cut=False)
