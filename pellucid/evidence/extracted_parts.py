"""The folder of `pellucid extract`: its texts come in parts, which an interrupted command goes on from, and which
several processes may share.

    unfinished-extraction/question.json    the digest of the work; the files beside the folder are of it, then
    unfinished-extraction/train-0003.json  the spans of the fourth 64 texts of a part of the data, as lines of JSON

Each is sealed. The folder is removed once the files and their manifest are written. Beside the files lies
`extraction.json`, what was asked of each text, for later calls that copy texts from here.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.base.checks import changes, percent
from pellucid.base.errors import BadFile, Notice, notify
from pellucid.base.files import disk_errors, remove_unfinished, whole_file, write_text
from pellucid.base.json_text import json_digest, read_json, read_sealed, sealed
from pellucid.base.leases import Share, computed_by_slices, joined_by_slices
from pellucid.base.manifest import digest_inside, read_manifest
from pellucid.base.output_folder import OutputFolder, check_unwritten
from pellucid.base.packages import __version__
from pellucid.base.processes import Progress, silent
from pellucid.corpus.estimate import CorpusCost, characters, trial_cost
from pellucid.corpus.slices import Crew, Parts
from pellucid.data.exports.json_lines import as_line
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS as PART_NAMES
from pellucid.evidence.extract import check_like, extract_from, selection_for
from pellucid.explaining.inputs.examples import examples_for
from pellucid.results.explanation_record import content_key, example_record
from pellucid.results.extraction import Extraction, extraction_in
from pellucid.run.model import Model
from pellucid.text.example import Example

PART = 64  # texts, as many as share passes: so parts change no score
ABOUT = "extraction.json"
UNFINISHED, QUESTION, STAGE = "unfinished-extraction", "question.json", "extracting"
Extract = Callable[[range], Sequence[Extraction]]
Known = dict[str, tuple[int, Extract, str]]  # part of the data -> how many texts, what extracts them, the separator


@dataclass(frozen=True)
class ExtractedParts:
    """path: the folder of parts. work: what they are of. damaged: parts that did not fit their seal, and were computed
    again.
    """

    path: Path
    work: str
    damaged: list[str] = field(default_factory=list, compare=False)

    def is_begun(self) -> bool:
        """Whether this work was interrupted here; raises `BadFile` where another one was."""
        question = self.path / QUESTION
        if not question.exists():
            return False
        try:
            return read_sealed(question, {"work": self.work}) == {}
        except BadFile:
            raise BadFile(
                f"{self.path.parent} holds another extraction that was interrupted; give another folder, or remove "
                f"this one."
            ) from None

    def written(self, name: str, n_texts: int, extract: Extract, separator: str) -> str:
        """Write NAME.jsonl beside the folder, from parts that are kept or computed now; returns a sentence about it."""
        count = range(parts_in(n_texts))
        records = [self.part(name, index, n_texts, extract, separator) for index in count]
        with whole_file(self.path.parent / f"{name}.jsonl") as file:
            for record in records:
                file.write("".join(record["lines"]).encode())
        if not records:
            return "no texts"
        whole = sum(record["whole"] for record in records)
        without_span = f"; {whole:,} that have no span stay whole" if whole else ""
        covered = float(np.mean([share for record in records for share in record["covered"]]))
        return f"{n_texts} texts, {percent(covered)} of the words of a text on average{without_span}"

    def has(self, name: str, index: int) -> bool:
        """Whether a part is there, or the file that is made of it."""
        return (self.path / f"{name}-{index:04d}.json").exists() or (self.path.parent / f"{name}.jsonl").exists()

    def part(self, name: str, index: int, n_texts: int, extract: Extract, separator: str) -> dict[str, Any]:
        """The record of a part, that is kept or computed now."""
        texts, name = range(index * PART, min((index + 1) * PART, n_texts)), f"{name}-{index:04d}"
        path, owner = self.path / f"{name}.json", {"work": self.work, "part": name}
        try:
            if path.exists():
                return read_sealed(path, owner)
        except BadFile:
            self.damaged.append(f"{self.path.name}/{path.name}")
        record = _part_record(extract(texts), separator)
        if not (self.path / QUESTION).exists():
            write_text(self.path / QUESTION, json.dumps(sealed({}, {"work": self.work}), ensure_ascii=False))
        write_text(path, json.dumps(sealed(record, owner), ensure_ascii=False))
        return record

    def remove(self) -> None:
        """Remove the parts, and what says whose they are last."""
        if not (self.path / QUESTION).exists():
            return
        with disk_errors("clear", self.path):
            remove_unfinished(self.path)
            for path in [*self.path.glob("*-[0-9][0-9][0-9][0-9]*.json"), self.path / QUESTION]:
                path.unlink()
            if not any(self.path.iterdir()):
                self.path.rmdir()


def parts_in(n_texts: int) -> int:
    """How many parts so many texts are cut into."""
    return -(-n_texts // PART)


def _part_record(extractions: Sequence[Extraction], separator: str) -> dict[str, Any]:
    """The lines of some extractions, the share of words that each one's spans cover, and how many texts stay whole."""
    return {
        "lines": [as_line(extraction.as_example(separator)) + "\n" for extraction in extractions],
        "covered": [extraction.coverage for extraction in extractions],
        "whole": sum(
            not extraction.lengths(index)
            for extraction in extractions
            for index in range(len(extraction.example.segments))
        ),
    }


@dataclass(frozen=True)
class ExtractionWork:
    """What is extracted from which texts, by plain values, so that another process can do it too.

    examples: part of the data -> its texts. likes: likewise, the texts of a folder that `extract` wrote, for spans of
    the same lengths; None without. settings: those of the selection, the seed, and the extractor's own. out: the folder
    of the files. model_hash: of the model. reuse: the folder of an earlier call, whose texts are copied.
    """

    examples: Mapping[str, Sequence[Example]]
    likes: Mapping[str, Sequence[Example]] | None
    extractor: str
    settings: Mapping[str, Any]
    separator: str
    out: Path
    model_hash: str
    reuse: Path | None = None

    @cached_property
    def earlier(self) -> Mapping[str, Extraction]:
        """A text's content -> what the earlier call extracted; raises `BadFile` where that was asked something else."""
        if self.reuse is None:
            return {}
        path = self.reuse / ABOUT
        if not path.exists():
            raise BadFile(
                f"{self.reuse} holds no {ABOUT}, which `pellucid extract` writes; give the folder of such a call."
            )
        there = read_json(path)
        why = changes(there, self.facts) if isinstance(there, dict) else f"{ABOUT} is damaged"
        if self.likes is not None:
            why = "spans of given lengths depend on more than the text"
        if why:
            raise BadFile(f"Texts of {self.reuse} cannot be reused ({why}); leave it away, or ask as that call did.")
        every = [example for part in PART_NAMES for example in _examples_of(self.reuse, part)]
        return {_key(extraction.example): extraction for extraction in map(extraction_in, every)}

    @property
    def n_copied(self) -> int:
        """How many texts the earlier call has."""
        return sum(_key(example) in self.earlier for texts in self.examples.values() for example in texts)

    @property
    def facts(self) -> dict[str, object]:
        """What was asked of each text, in JSON's terms."""
        about = {"version": __version__, "model": self.model_hash, "extractor": self.extractor}
        return {**about, "settings": json.loads(json.dumps(self.settings))}

    @cached_property
    def digest(self) -> str:
        """Of all that the files depend on."""
        likes = dict.fromkeys(self.examples, ()) if self.likes is None else self.likes
        read = [[list(map(example_record, texts)) for texts in every.values()] for every in (self.examples, likes)]
        return json_digest([self.model_hash, self.extractor, self.settings, self.separator, list(self.examples), read])

    @property
    def files(self) -> OutputFolder:
        """What the command makes in its folder."""
        known = {ABOUT: json.dumps(self.facts, ensure_ascii=False, indent=1)}
        names = [f"{part}.jsonl" for part in self.examples]
        return OutputFolder(self.out, "extract", self.digest, [*names, ABOUT], known=known)

    def written(self, model: Model, share: Share | None, crew: Crew | None, progress: Progress) -> list[str]:
        """Write the files, and return a sentence about each.

        share: of one of several commands; whoever is last joins the parts, and the others say nothing.
        """
        known, numbered = self._known(model, progress), self._numbered()
        there = ExtractedParts(self.out / UNFINISHED, self.digest)
        if share is not None or crew is not None:
            there.is_begun()  # raises for another extraction
        if crew is not None:
            n_texts, count = sum(map(len, self.examples.values())), len(numbered)
            is_there = lambda place: there.has(*numbered[place])  # noqa: E731
            crew.compute(Parts(self.out, count, is_there, self.compute_share, STAGE, n_texts), progress)
        if share is None:
            return _written(self.files, there, known)
        with joined_by_slices(self.out, share, *self._parts(there, known)):
            return [] if self.files.begin().is_whole else _written(self.files, there, known)

    def compute_share(self, model: Model, share: Share) -> None:
        """Compute the parts of a slice, and those that no other one computes."""
        there = ExtractedParts(self.out / UNFINISHED, self.digest)
        computed_by_slices(self.out, share, *self._parts(there, self._known(model, silent)))

    def cost(self, model: Model, workers: int) -> CorpusCost:
        """What the work will cost, from some of the texts."""
        places = [(part, index) for part, texts in self.examples.items() for index in range(len(texts))]

        def run(some: Sequence[tuple[str, int]]) -> None:
            for part in dict(some):
                mine = [index for name, index in some if name == part]
                likes = None if self.likes is None else {part: [self.likes[part][index] for index in mine]}
                of_part = replace(self, examples={part: [self.examples[part][index] for index in mine]}, likes=likes)
                of_part._extract(model, part, silent)(range(len(mine)))

        return trial_cost(places, lambda place: characters(self.examples[place[0]][place[1]]), workers, run)

    def _parts(self, there: ExtractedParts, known: Known) -> tuple[int, Callable[[int], bool], Callable[[int], None]]:
        """How many parts there are, whether one is there, and what computes one."""
        numbered = self._numbered()

        def compute(place: int) -> None:
            part, index = numbered[place]
            there.part(part, index, *known[part])

        return len(numbered), lambda place: there.has(*numbered[place]), compute

    def _numbered(self) -> list[tuple[str, int]]:
        return [(part, index) for part, texts in self.examples.items() for index in range(parts_in(len(texts)))]

    def _known(self, model: Model, progress: Progress) -> Known:
        return {
            part: (len(texts), self._extract(model, part, progress), self.separator)
            for part, texts in self.examples.items()
        }

    def _extract(self, model: Model, part: str, progress: Progress) -> Extract:
        """What extracts some texts of a part of the data."""
        examples = examples_for(model, self.examples[part])
        like = None if self.likes is None else list(map(extraction_in, self.likes[part]))
        check_like(examples, like)
        settings = dict(self.settings)
        names = ("selection", "budget", "n_spans", "within")
        mode, budget, n_spans, within = (settings.pop(name) for name in names)
        of_all = selection_for(self.extractor, mode, budget, n_spans, like, within)
        seed = settings.pop("seed")

        def extract_some(texts: range) -> list[Extraction]:
            def show(stage: str, done: int, total: int) -> None:
                progress(stage, texts.start + done, len(examples))

            of_part = replace(of_all, like=None if like is None else like[texts.start : texts.stop])
            some = examples[texts.start : texts.stop]
            copied = [self.earlier.get(_key(example)) for example in some]
            left = [example for example, extraction in zip(some, copied, strict=True) if extraction is None]
            new = iter(list[Extraction]())
            if left:
                (extracted,) = extract_from(model, left, self.extractor, [of_part], settings, seed=seed, progress=show)
                new = iter(extracted)
            return [
                next(new) if extraction is None else replace(extraction, example=example)
                for example, extraction in zip(some, copied, strict=True)
            ]

        return extract_some


def _key(example: Example) -> str:
    """Of a text, whatever people marked in it, which no extractor reads."""
    meta = {name: value for name, value in example.meta.items() if name != "original_evidence"}
    return content_key(replace(example, rationales=(), meta=meta))


def _examples_of(folder: Path, part: str) -> Sequence[Example]:
    """What an earlier call wrote of a part of the data; of a file that was changed since nothing, with a notice."""
    name, manifest = f"{part}.jsonl", read_manifest(folder)
    if manifest is None or name not in manifest.files:
        return ()
    if digest_inside(folder, name) != manifest.files[name]:
        notify(f"{folder / name} is not as `pellucid extract` wrote it, so nothing is copied from it.")
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)  # how the columns of our own files are read
        return load_examples(folder, part)


def _written(files: OutputFolder, there: ExtractedParts, known: Known) -> list[str]:
    """Write the parts that are missing, and join those of each file; returns a sentence a file.

    known: part of the data -> its number of texts, what extracts them, and the separator.
    """
    state, lines, remade = files.begin(), list[str](), list[str]()
    if not (state.damaged or there.is_begun()):
        check_unwritten(files.path / name for name in files.files)
    for part, (n_texts, extract_some, separator) in known.items():
        name = f"{part}.jsonl"
        if name in state.stamps and name not in state.damaged:  # of the same call, and as it was written
            continue
        before = digest_inside(files.path, name)
        summary = there.written(part, n_texts, extract_some, separator)
        remade += [name] if before not in (None, digest_inside(files.path, name)) else []
        lines.append(f"{part}: {summary}. Written: {files.path / name}")
    write_text(files.path / ABOUT, files.known[ABOUT])
    files.save(state)
    there.remove()
    files.end(state, [*there.damaged, *remade])
    return lines
