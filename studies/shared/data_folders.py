"""Where a study that has several corpora finds the texts of one."""

from pathlib import Path

from pellucid.base.kinds import datasets


def source_of(folder: str, data: str) -> str:
    """A registered data set by its name, else a folder of the folder of all data; a registered one as --data stands in
    for all.
    """
    if data in datasets.names():
        return data
    return folder if folder in datasets.names() else str(Path(data) / folder)
