"""Whether a folder is as the command left it that made it, by its manifest alone: without a model, and without network."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from pellucid.base.errors import BadFile
from pellucid.base.files import possible_path, readable
from pellucid.base.manifest import MANIFEST, Manifest, names_below, read_manifest
from pellucid.base.wording import listed, quoted


@dataclass(frozen=True)
class Verification:
    """folder: as it was named. checked: how many files the manifests list. missing, changed: names of files that are not there,
    or not as they were written; what is no file, and a link that leads out of the folder, is changed. foreign: files that no
    manifest lists; they are no failure.
    """

    folder: str
    checked: int
    missing: tuple[str, ...]
    changed: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether no file is missing or changed."""
        return not (self.missing or self.changed)

    def record(self) -> dict[str, object]:
        """Every field, as JSON can hold it, and whether the folder is whole."""
        return asdict(self) | {"is_whole": self.is_whole}

    def __str__(self) -> str:
        kinds = {"Missing": self.missing, "Changed": self.changed, "Foreign": self.foreign}
        files = f"{self.checked:,} file{'' if self.checked == 1 else 's'}"
        outcome = "whole" if self.is_whole else "damaged"
        lines = [f"{self.folder} is {outcome}: {files} by its manifest."]
        lines += [f"{kind}: {listed(map(_in_one_line, names))}" for kind, names in kinds.items() if names]
        return "\n".join(lines)


def verify_folder(folder: str | Path) -> Verification:
    """Check a folder, and those inside it, against their manifests; raises `BadFile` where there is no manifest."""
    path = possible_path(folder)
    if not path.is_dir():
        raise BadFile(f"There is no folder {readable(path)}; give one that a command made.")
    names = names_below(path)
    manifests = {
        name.removesuffix(MANIFEST): _manifest_in(path / name)
        for name in names
        if PurePosixPath(name).name == MANIFEST
    }  # by the folder's name with its slash, "" for the outermost
    if not manifests:
        raise BadFile(
            f"{readable(path)} has no {MANIFEST}: no command of Pellucid made it, or the command has not ended, or it was of an earlier "
            "version; run the command again, which writes one."
        )
    missing, changed, expected = set[str](), set[str](), set[str]()
    for root, manifest in manifests.items():
        if manifest is None:
            changed.add(root + MANIFEST)
            continue
        own = [f"{one}/{MANIFEST}" for one in manifest.folders]
        absent, other = manifest.differing(path / root)
        missing.update(root + name for name in [*absent, *(one for one in own if root + one not in names)])
        changed.update(root + name for name in other)
        expected.update(root + name for name in [*manifest.files, *own])
    outermost = {root + MANIFEST for root in manifests if not _lies_in_another(root, manifests)}
    unlisted = [name for name in names if name not in expected | changed | outermost]
    # Where a manifest is damaged, nobody knows which of the folder's files it listed.
    unknown = tuple(root for root, manifest in manifests.items() if manifest is None)
    foreign = [readable(name) for name in unlisted if not (unknown and name.startswith(unknown))]
    count = sum(len(one.files) for one in manifests.values() if one is not None)
    return Verification(readable(path), count, tuple(sorted(missing)), tuple(sorted(changed)), tuple(foreign))


def _manifest_in(path: Path) -> Manifest | None:
    """None where it is damaged."""
    try:
        return read_manifest(path.parent)
    except BadFile:
        return None


def _in_one_line(name: str) -> str:
    """A name as it is, or as Python writes it where it has line ends or other control characters."""
    return name if name.isprintable() else quoted(name)


def _lies_in_another(root: str, roots: Iterable[str]) -> bool:
    return any(root != one and root.startswith(one) for one in roots)


# The door `verify`: whether a folder is as the command left it that made it.


def verify(folder: str | Path) -> Verification:
    """Check a folder that a command made, and folders of that kind inside it, against their manifests.

    It needs neither the model nor a network, and runs and draws nothing of the folder: sizes and SHA-256 digests are compared. A
    folder that was moved or mailed can be checked. Digests find accidents and careless changes. They do not find a forger, who
    rewrites the manifest too.

    folder: what `compare`, `attack`, `train` and their like left.

    Returns which files are `missing`, `changed` or `foreign`, and whether the folder `is_whole`. Foreign files, which no manifest
    lists, are no damage; what stands in a file's place and is none, or is a link that leads out of the folder, is changed.
    Raises `BadFile` where there is no folder, or none with a manifest.

    >>> parts = pellucid.plant("token", n=100, out="mailed")
    >>> pellucid.verify("mailed").is_whole
    True
    >>> _ = open("mailed/dev.jsonl", "a").write("{}")
    >>> pellucid.verify("mailed").changed
    ('dev.jsonl',)
    """
    return verify_folder(folder)
