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


def corpus_title(title: str, data: str, *folders: str) -> str:
    """What a page calls the texts that were read: the corpus, or, where others stood in for it, those.

    title: of the corpus, as papers write it. data: the folder, or the registered data set. folders: what the
    corpus's own folder may be called.
    """
    name = Path(data).name
    return title if name in folders else f"{name} in place of {title}"
