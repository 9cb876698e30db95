"""The command line of all studies: list them, describe one, run one."""

import argparse
import inspect
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from pellucid.base.catalogue import Entry
from pellucid.base.checks import known
from pellucid.base.errors import PellucidError
from pellucid.base.files import write_text
from pellucid.base.manifest import remove_manifest
from pellucid.base.output_folder import NOTHING_KNOWN, OutputFolder
from pellucid.base.processes import Progress, silent
from pellucid.drawing.terminal import progress_bar
from pellucid.text.ranges import TIES
from studies.shared.equal_scores import RECORD
from studies.shared.markdown import noted
from studies.shared.study import Records, Settings, Study, studies
from studies.shared.unit_files import PACKED, RUNS, Numbers, pack_units
from studies.shared.what_ran import RAN, command_sentence, what_ran, with_encoder

PROGRAM = "python -m studies"
MISSING = ("missing", "unfinished")  # where results list work that is not done
SHARED = {one.name for one in fields(Settings)} - {"size_name", "size", "own", "study"}


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line. What goes wrong on purpose is one sentence on standard error, and status 2."""
    words = sys.argv[1:] if words is None else words
    try:
        if not words or words[0] in ("-h", "--help"):
            print(listing())
        else:
            _run(studies.get(words[0]), words[1:])
    except PellucidError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


def listing() -> str:
    """Every study with its sentence, and how to run one."""
    entries = [studies.get(name) for name in studies.names()]
    width = max(len(entry.name) for entry in entries)
    lines = "\n".join(f"  {entry.name:{width}}  {entry.summary}" for entry in entries)
    return (
        f"The studies:\n\n{lines}\n\n{PROGRAM} NAME --help describes one study and its options.\n"
        f"{PROGRAM} NAME --size small --out FOLDER ... runs it; finished work is kept and not done again."
    )


def run_study(study: Study, settings: Settings, progress: Progress = silent) -> str:
    """Do what is missing, write numbers, pictures and page into settings.out, and return the page.

    Numbers, pictures and page are made again in any case; units of work have seals of their own, and a damaged one is
    refused.
    """
    names = ["result.json", *study.pictures, "README.md"]
    files = OutputFolder(settings.out, "study", settings.size_name, [*names, PACKED, f"{RUNS}/*.json"])
    if not settings.finished:
        remove_manifest(settings.out)
    records = study.work(settings, progress)
    numbers = study.summary(settings, records)
    notes, additions = _notes(study, settings, records, numbers)
    page = noted(with_encoder(study.page(settings, numbers), settings.encoder), notes)
    result = with_encoder(numbers, settings.encoder)
    result = result | additions if isinstance(result, dict) else result
    texts = {"result.json": json.dumps(result, indent=1), "README.md": page}
    texts |= {name: with_encoder(draw(settings, numbers), settings.encoder) for name, draw in study.pictures.items()}
    for name, text in texts.items():
        write_text(settings.out / name, text)
    pack_units(settings.runs)
    files.save(NOTHING_KNOWN)
    return page


def _notes(study: Study, settings: Settings, records: Records, numbers: Any) -> tuple[list[str], Numbers]:
    """What stands below the title of the page, and what joins the numbers: the run, and the rule for equal scores."""
    is_whole = not (isinstance(numbers, dict) and any(numbers.get(name) for name in MISSING))
    ran = what_ran(study, settings, is_whole) if settings.study else None
    notes = [command_sentence(ran)] if ran else []
    additions: Numbers = {RAN: ran} if ran else {}
    if study.equal_scores is not None and study.equal_scores.follows_rule(records):
        additions[RECORD] = TIES
    elif study.equal_scores is not None:
        notes.append(study.equal_scores.sentence)
    return notes, additions


def parse_settings(entry: Entry, study: Study, words: Sequence[str]) -> Settings:
    """The settings that the words of a command line stand for. Raises `UnknownName` for an unknown size."""
    options = vars(_parser(entry, study).parse_args(words))
    size_name = options.pop("size")
    known(f"size of {entry.name}", size_name, study.sizes)
    shared = {name: options.pop(name) for name in SHARED & options.keys()}
    return Settings(size_name, study.sizes[size_name], own=options, study=entry.name, **shared)


def _run(entry: Entry, words: Sequence[str]) -> None:
    study = entry.make()
    settings = parse_settings(entry, study, words)
    with progress_bar(True) as progress:
        page = run_study(study, settings, progress)
    print(page)


def _parser(entry: Entry, study: Study) -> argparse.ArgumentParser:
    about = inspect.getdoc(inspect.getmodule(entry.make)) or entry.summary
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM} {entry.name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=True,
    )
    for option in study.all_options:
        parser.add_argument(option.name, **option.arguments)
    return parser
