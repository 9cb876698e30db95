"""Plugged log: a name, a tab, and a remark, one a line.

Doe (2030), "On Remarks".
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import tab_records
from pellucid.data.shared.part_files import PARTS, part_file, row_id
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.text.example import Example

FILES = {part: (f"{part}.log",) for part in PARTS}


@formats.add(reads="train.log, dev.log, test.log", data="remarks")
def plugged_log(path: Path, split: str, *, by: str | None = None) -> Iterator[ReadRow]:
    """Remarks, labelled with the name of who wrote them.

    by: only this person's remarks.
    """
    file = part_file(path, split, FILES)
    yield from read_rows(file, tab_records(file), partial(_example, file=file, by=by))


def _example(fields: list[str], line: int, *, file: Path, by: str | None) -> list[Example]:
    name, remark = fields
    return [Example((remark,), name, (), row_id(file, line))] if by in (None, name) else []
