"""Draws the pictures of all studies again, from the `result.json` beside each: `python -m docs.pictures.of_studies`.

It takes some seconds, since nothing is measured again.
"""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.pictures.drawn import ROOT, record
from studies.shared.runner import parse_settings
from studies.shared.study import studies
from studies.shared.what_ran import with_encoder

COMMAND = "python -m docs.pictures.of_studies"
MADE_BY = re.compile(r"`python -m studies (\w+)([^`]*)`")


@dataclass(frozen=True)
class StudyPicture:
    """A committed picture of a study, with the study's name and the words of the command that made its folder."""

    path: Path
    study: str
    words: tuple[str, ...]

    def drawing(self) -> str:
        """The picture, from the numbers beside it."""
        entry = studies.get(self.study)
        study = entry.make()
        settings = parse_settings(entry, study, self.words)
        numbers = json.loads((self.path.parent / "result.json").read_text(encoding="utf-8"))
        return with_encoder(study.pictures[self.path.name](settings, numbers), settings.encoder)


def study_pictures(root: Path = ROOT) -> Iterator[StudyPicture]:
    """Every picture in a folder whose page names the command that made it."""
    for path in sorted((root / "studies").rglob("*.svg")):
        page = path.with_name("README.md")
        made = MADE_BY.search(page.read_text(encoding="utf-8")) if page.is_file() else None
        if made:
            yield StudyPicture(path, made[1], tuple(shlex.split(made[2])))


def main() -> None:
    """Draw and record them all."""
    for picture in study_pictures():
        picture.path.write_text(picture.drawing(), encoding="utf-8")
        names = [path.relative_to(ROOT).as_posix() for path in (picture.path.with_name("result.json"), picture.path)]
        record(COMMAND, names[:1], names[1:])


if __name__ == "__main__":
    main()
