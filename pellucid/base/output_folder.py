"""A folder that a command writes to: what stands in it, and of work that goes part by part the question beside it."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pellucid.base.checks import listed
from pellucid.base.errors import BadFile, FolderMended, notify
from pellucid.base.files import check_folder, disk_errors, remove_unfinished, write_text
from pellucid.base.json_text import json_digest, read_json
from pellucid.base.manifest import (
    MANIFEST,
    FileDigest,
    Manifest,
    digest_inside,
    names_below,
    read_manifest,
    remove_manifest,
)
from pellucid.base.temporary_files import PREFIX


@dataclass(frozen=True)
class OutputFolder:
    """What a command makes in a folder; names are relative to it and may have * in them.

    command: its name, for the manifest. work: names the work, so that another work's files are never taken away. files:
        every file.
    folders: those inside that have a manifest of their own. lasting: files that this work cannot make again -> what is
    wrong and what to do where one is damaged. known: files whose text is known before the work -> the text.
    """

    path: Path
    command: str
    work: str
    files: Sequence[str]
    folders: Sequence[str] = ()
    lasting: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)

    def begin(self) -> "FolderState":
        """Take away what is damaged, before the work; raises `BadFile` for a damaged file that the work cannot make
        again.
        """
        manifest = self._own_manifest()
        if manifest is None:
            return NOTHING_KNOWN
        missing, changed = ([name for name in names if self._makes(name)] for names in manifest.differing(self.path))
        for name in (*missing, *changed):
            self._check_can_be_remade(name, "is missing" if name in missing else "was changed")
        if missing or changed:
            self._take_away(missing, changed)
        stamps = {name: _stamp(self.path / name) for name in manifest.files}
        return FolderState(manifest, (*missing, *changed), stamps)

    def rewritten(self, names: Sequence[str], write: Callable[[], object]) -> list[str]:
        """Call `write`, which makes files that no manifest speaks for; returns those that were there before and were
        others.
        """
        before = {name: digest_inside(self.path, name) for name in names}
        write()
        return [
            name for name, digest in before.items() if digest is not None and digest != digest_inside(self.path, name)
        ]

    def holds_other_work(self) -> bool:
        """Whether there is a manifest of the same command, and it is of another work."""
        manifest = _manifest_or_none(self.path)
        return manifest is not None and manifest.command == self.command and manifest.work != self.work

    def _own_manifest(self) -> Manifest | None:
        manifest = _manifest_or_none(self.path)
        same = manifest is not None and (manifest.command, manifest.work) == (self.command, self.work)
        return manifest if same else None

    def _makes(self, name: str) -> bool:
        """Whether a file is of this work: whatever a manifest says, no other is taken away."""
        return any(_fits(name, pattern) for pattern in self.files)

    def _check_can_be_remade(self, name: str, what: str) -> None:
        for pattern, sentence in self.lasting.items():
            if _fits(name, pattern):
                raise BadFile(f"{self.path} {sentence} ({name} {what}).")
        path = self.path / name
        if path.is_dir() and not path.is_symlink():
            raise BadFile(f"{path} is a folder where a file belongs; remove it to have the file made again.")
        if not path.parent.resolve().is_relative_to(self.path.resolve()):
            raise BadFile(
                f"{path.parent} is a link that leads out of {self.path}; remove it to have its files made again."
            )

    def _take_away(self, missing: Sequence[str], changed: Sequence[str]) -> None:
        """The manifest goes last, so that an interruption in between loses nothing that is known."""
        for name in (*missing, *changed):
            if name in self.known:
                write_text(self.path / name, self.known[name])
        with disk_errors("write", self.path):
            for name in changed:
                if name not in self.known:
                    (self.path / name).unlink(missing_ok=True)
        remove_manifest(self.path)

    def end(self, state: "FolderState", remade: Sequence[str] = ()) -> None:
        """Write the manifest, after the work; notices say what was made again, and what is foreign. remade: further
        such files.
        """
        manifest = self.save(state)
        remade = [*(name for name in state.damaged if name in manifest.files), *remade]
        lost = [name for name in state.damaged if name not in manifest.files]
        if state.manifest is not None:
            lost += _manifests_in(folder for folder in state.manifest.folders if folder not in manifest.folders)
        self._notify("Made again in {}, where it was missing or changed: {}.", remade)
        self._notify("Missing in {}, and not made again: {}.", lost)
        self._notify("Not made by this command, and left as it is in {}: {}.", self._foreign(manifest))

    def save(self, state: "FolderState") -> Manifest:
        """Write the manifest where it is not there as it should be, and return it."""
        manifest = Manifest(
            self.command,
            self.work,
            {name: digest for name in self._present(self.files) if (digest := state.digest(self.path, name))},
            tuple(name.removesuffix(f"/{MANIFEST}") for name in self._present(_manifests_in(self.folders))),
        )
        is_there = state.manifest == manifest and not state.damaged
        if not is_there and self.path.is_dir() and os.access(self.path, os.W_OK):
            remove_unfinished(self.path)
            manifest.save(self.path)
        return manifest

    def _notify(self, sentence: str, names: Sequence[str]) -> None:
        if names:
            notify(sentence.format(self.path, listed(names)), FolderMended)

    def _foreign(self, manifest: Manifest) -> list[str]:
        inside = tuple(f"{folder}/" for folder in manifest.folders)
        return [
            name
            for name in (names_below(self.path) if self.path.is_dir() else ())
            if name not in manifest.files and name != MANIFEST and not name.startswith(inside) and PREFIX not in name
        ]

    def _present(self, patterns: Iterable[str]) -> list[str]:
        """The files that are there, of names and patterns."""
        paths = [
            path
            for pattern in patterns
            for path in (self.path.glob(pattern) if "*" in pattern else [self.path / pattern])
        ]
        return sorted({path.relative_to(self.path).as_posix() for path in paths if path.is_file()})


@dataclass(frozen=True)
class FolderState:
    """What was known of a folder when its command began.

    manifest: that of the same work. damaged: files that differed from it. stamps: how the disk names the state of each
    file that did not differ.
    """

    manifest: Manifest | None
    damaged: tuple[str, ...]
    stamps: Mapping[str, tuple[int, ...]]

    @property
    def is_whole(self) -> bool:
        """Whether every file was as the manifest of this work says."""
        return self.manifest is not None and not self.damaged

    def digest(self, folder: Path, name: str) -> FileDigest | None:
        """The digest of a file, None for a link that leads out of the folder; one that nobody wrote since is not read
        again.
        """
        stamp = self.stamps.get(name)
        if self.manifest is not None and stamp and stamp == _stamp(folder / name):
            return self.manifest.files[name]
        return digest_inside(folder, name)


NOTHING_KNOWN = FolderState(None, (), {})  # without a manifest


def is_damaged(folder: Path) -> bool:
    """Whether a folder has a manifest and does not fit it."""
    manifest = _manifest_or_none(folder)
    return manifest is not None and any(manifest.differing(folder))


def check_unwritten(paths: Iterable[Path]) -> None:
    """Raise `BadFile` for a file that is there already, where a command replaces none."""
    for path in filter(Path.exists, paths):
        raise BadFile(f"{path} is there already; give another folder, or remove it.")


def check_as_before(folder: OutputFolder, state: FolderState, names: Iterable[str]) -> None:
    """Raise `BadFile` where files that were made again are not what they were; they are taken away, and the manifest is
    put back.
    """
    if state.manifest is None:
        return
    changed = [name for name in names if digest_inside(folder.path, name) != state.manifest.files.get(name)]
    if not changed:
        return
    for name in changed:
        (folder.path / name).unlink()
    state.manifest.save(folder.path)
    raise BadFile(
        f"{listed(changed)} of {folder.path} cannot be made again as it was: what it was made from has changed; put it "
        f"back, or remove the folder to train again."
    )


def _manifest_or_none(folder: Path) -> Manifest | None:
    """None also where it is damaged: then the command checks what it can, and writes another."""
    try:
        return read_manifest(folder)
    except BadFile:
        return None


def _manifests_in(folders: Iterable[str]) -> list[str]:
    return [f"{folder}/{MANIFEST}" for folder in folders]


def _fits(name: str, pattern: str) -> bool:
    path, shape = PurePosixPath(name), PurePosixPath(pattern)
    return len(path.parts) == len(shape.parts) and path.match(pattern)


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes with a file's content; () where there is none."""
    try:
        state = path.stat()
    except OSError:
        return ()
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


# A folder that keeps an analysis part by part, beside the question that its parts answer.

QUESTION, PARTS = "question.json", "parts"


def question_folder(
    path: Path,
    command: str,
    question: Mapping[str, object],
    files: Sequence[str],
    folders: Sequence[str] = (),
) -> OutputFolder:
    """The folder as `OutputFolder` takes it; its question, which is known before the work, is among the files."""
    known = {QUESTION: _written(question)}
    return OutputFolder(path, command, json_digest(question), [QUESTION, *files], folders, known=known)


def prepare_folder(path: Path, question: Mapping[str, object], kind: str) -> None:
    """Make the folder ready for writing, with its question; raises `BadFile` where it holds anything else.

    kind: what the folder is of, such as "layer analysis".
    """
    if (path / QUESTION).exists():
        there = read_json(path / QUESTION)
        if there != question:
            names = _differing(there, question)
            raise BadFile(
                f"{path} holds another {kind} (it differs in {names}); give another folder, or remove this one."
            )
    elif path.exists() and (others := [entry.name for entry in path.glob("*") if entry.suffix != ".part"]):
        raise BadFile(
            f"{path} holds no {kind} but other files ({', '.join(sorted(others)[:3])}); give an empty folder, or a new "
            f"one."
        )
    for folder in (path, path / PARTS):
        remove_unfinished(folder)
    check_folder(path)
    if not (path / QUESTION).exists():
        write_text(path / QUESTION, _written(question))


def _written(question: Mapping[str, object]) -> str:
    return json.dumps(question, ensure_ascii=False, indent=1)


def _differing(there: object, here: Mapping[str, object]) -> str:
    if not isinstance(there, dict):
        return "everything"
    names = dict.fromkeys((*here, *there))
    return ", ".join(name for name in names if there.get(name) != here.get(name)) or "what else it says"
