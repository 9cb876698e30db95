"""Concepts that a model has learnt: their directions, what they are about, what they do, and how sure that is."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pellucid.base.checks import one_of, reason, whole
from pellucid.base.errors import BadFile, PellucidError
from pellucid.base.files import possible_path, write_text
from pellucid.base.json_text import json_digest, nan_as_none, read_json
from pellucid.base.kinds import readers, renderers
from pellucid.base.memory import not_enough_memory
from pellucid.discovery.concept import NO_NAME, BesideChance, LearntConcept, beside_from, concept_from, list_from
from pellucid.discovery.dictionaries import ENCODINGS, Dictionary
from pellucid.discovery.target import OVERS, ConceptReadout, ConceptTarget, Over
from pellucid.models.folders.weight_files import save_tensors
from pellucid.results.interval import word_from
from pellucid.results.storage import as_records

FORM = "pellucid-concepts-1"
RECORD, TENSORS = "concepts.json", "concepts.safetensors"
ARRAYS = ("atoms", "offset", "encoder", "directions")


@dataclass(frozen=True, eq=False, repr=False)
class LearntConcepts:
    """The concepts of one layer of a model.

    concepts: the largest first. dictionary: their directions. directions: [direction width], the random ones that
    removals are compared with. model, model_hash, labels: whose. layer, level, method, seed: of the search. about:
    further facts, name -> plain value. reconstruction: the share of the states' variance that concepts hold. answers:
    the share of texts with the same answer where states are made of concepts alone. caveats: sentences.

    >>> concepts = pellucid.find_concepts("my-classifier", ["A good film."] * 40 + ["A dull film."] * 40, 1, n=2)
    >>> len(concepts), concepts.layer
    (2, 1)
    """

    concepts: tuple[LearntConcept, ...]
    dictionary: Dictionary
    directions: np.ndarray
    model: str
    model_hash: str
    labels: tuple[str, ...]
    layer: int
    level: str
    method: str
    seed: int
    about: Mapping[str, object]
    reconstruction: BesideChance
    answers: BesideChance
    caveats: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.concepts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LearntConcepts) and self.record() == other.record()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        named = sum(concept.name != NO_NAME for concept in self.concepts)
        return (
            f"<LearntConcepts: {len(self)} of layer {self.layer} of {self.model} by {self.method}, {named} with a name>"
        )

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_learnt_concepts").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_learnt_concepts").make(self)

    def record(self) -> dict[str, object]:
        """Plain values for JSON, without the directions, which `save` writes beside it."""
        concepts = [
            asdict(replace(concept, texts=())) | {"name": concept.name, "texts": as_records(concept.texts)}
            for concept in self.concepts
        ]
        plain = {
            "form": FORM,
            "model": self.model,
            "model_hash": self.model_hash,
            "labels": list(self.labels),
            "layer": self.layer,
            "level": self.level,
            "method": self.method,
            "seed": self.seed,
            "about": dict(self.about),
            "encoding": self.dictionary.encoding,
            "settled": self.dictionary.settled,
            "tensors": _digest(self._arrays()),
            "reconstruction": asdict(self.reconstruction),
            "answers": asdict(self.answers),
            "concepts": concepts,
            "caveats": list(self.caveats),
        }
        return nan_as_none(plain)

    def target(self, concept: int, over: Over = "sum") -> ConceptTarget:
        """A concept's activation as target: `explain(model, texts, method, target=concepts.target(3))`.

        concept: its id, from 1. over: what of the words of a text is explained, the "sum" of their activations or the
            "largest".

        Of a text longer than the model reads, the mean over its windows is explained. Raises `BadSetting` for another
        id. Methods that read whole states refuse a concept.

        >>> concepts = pellucid.find_concepts("my-classifier", ["A good film."] * 40 + ["A dull film."] * 40, 1, n=2)
        >>> target = concepts.target(1, over="largest")
        >>> explanation = pellucid.explain("my-classifier", "A good film.", "occlusion", target=target)[0]
        >>> explanation.target.output
        'hidden state: largest activation'
        """
        whole("concept", concept, 1, len(self))
        one_of("over", over, OVERS)
        readout = ConceptReadout(self.layer, self.level, self.dictionary, concept - 1, over)  # type: ignore[arg-type]
        return ConceptTarget(self.concepts[concept - 1].title, self.model, self.model_hash, readout)

    def _arrays(self) -> dict[str, np.ndarray]:
        dictionary = self.dictionary
        arrays = (dictionary.atoms, dictionary.offset, dictionary.encoder, self.directions)
        return {name: np.ascontiguousarray(array, np.float32) for name, array in zip(ARRAYS, arrays, strict=True)}

    def save(self, folder: str | Path) -> None:
        """Write concepts.safetensors and then concepts.json to a folder; raises `BadFile` where that cannot be."""
        tensors = {name: torch.from_numpy(array) for name, array in self._arrays().items()}
        folder = possible_path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        save_tensors(tensors, folder / TENSORS)
        write_text(folder / RECORD, json.dumps(self.record(), ensure_ascii=False, indent=1))

    @staticmethod
    def read(folder: str | Path) -> "LearntConcepts":
        """Read what `save` or `find_concepts(out=)` wrote; raises `BadFile` for anything else.

        >>> concepts.save("concepts")
        >>> pellucid.LearntConcepts.read("concepts") == concepts
        True
        """
        folder = possible_path(folder)
        if not (folder / RECORD).is_file():
            raise BadFile(
                f"{folder} holds no concepts; find some: pellucid concepts find MODEL DATA --layer 4 --out {folder}."
            )
        try:
            return _learnt(read_json(folder / RECORD), _read_arrays(folder / TENSORS))
        except MemoryError:
            raise not_enough_memory(f"read {folder}") from None
        except (PellucidError, ValueError, LookupError, TypeError, AttributeError, OverflowError, OSError) as error:
            raise BadFile(
                f"{folder} does not hold whole concepts of Pellucid's ({reason(error)}); find them anew."
            ) from None


def _digest(arrays: Mapping[str, np.ndarray]) -> str:
    return json_digest({name: [list(array.shape), array.tobytes().hex()] for name, array in arrays.items()})


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            return {name: file.get_tensor(name) for name in ARRAYS}
    except SafetensorError as error:
        raise ValueError(f"{path.name}: {reason(error)}") from None


def _learnt(record: Any, arrays: dict[str, np.ndarray]) -> LearntConcepts:
    """The concepts of a record of unknown origin; whatever does not fit raises an error of some kind."""
    if not isinstance(record, Mapping) or record.get("form") != FORM:
        raise ValueError("it is of another form")
    if record["tensors"] != _digest(arrays):
        raise ValueError(f"{TENSORS} is of other concepts, or was changed")
    atoms, offset, encoder, directions = (arrays[name] for name in ARRAYS)
    one_of("encoding", record["encoding"], ENCODINGS)
    _check_shapes(record, atoms, offset, encoder)
    return LearntConcepts(
        tuple(concept_from(concept) for concept in list_from(record["concepts"])),
        Dictionary(atoms, offset, encoder, record["encoding"], bool(record["settled"])),
        directions,
        word_from(record["model"]),
        word_from(record["model_hash"]),
        tuple(map(word_from, list_from(record["labels"]))),
        int(record["layer"]),
        word_from(record["level"]),
        word_from(record["method"]),
        int(record["seed"]),
        dict(record["about"]),
        beside_from(record["reconstruction"]),
        beside_from(record["answers"]),
        tuple(map(word_from, list_from(record["caveats"]))),
    )


def _check_shapes(record: Mapping[str, Any], atoms: np.ndarray, offset: np.ndarray, encoder: np.ndarray) -> None:
    count, width = atoms.shape
    wide = 2 * width if record["encoding"] == "parts" else width
    if offset.shape != (width,) or encoder.shape != (count, wide) or len(record["concepts"]) != count:
        raise ValueError("its directions do not fit each other")


def check_same_model(learnt: LearntConcepts, model_hash: str, name: str) -> None:
    """Raise `BadFile` where the concepts are of another model: their directions mean nothing in this one."""
    if learnt.model_hash != model_hash:
        raise BadFile(
            f"The concepts are of {learnt.model} with other weights than {name}; find those of this model: pellucid "
            f"concepts find MODEL DATA --layer {learnt.layer} --out FOLDER."
        )


@readers.add()
def concepts_at(path: Path) -> LearntConcepts | None:
    """The concepts of a folder that `find_concepts` wrote; None where it holds something else."""
    return LearntConcepts.read(path) if path.is_dir() and (path / RECORD).is_file() else None
