"""The folder that a lens is written to: lens.json is written last, so the lens is whole when it is there."""

from dataclasses import dataclass
from pathlib import Path

from pellucid.core.folders.output_folder import OutputFolder
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import check_folder, disk_errors, remove_unfinished
from pellucid.models.folders.json_object import read_object
from pellucid.models.language_heads.lens import Lens
from pellucid.models.language_heads.lens_folder import RECORD, WEIGHTS, is_lens, load_lens, save_lens

OTHERS = "config.json"  # of a model
LASTING = dict.fromkeys(
    (RECORD, WEIGHTS),
    "has damage that only training mends; put the file back, or remove the folder to train again",
)
OTHERWISE = "of another model, other texts or another recipe; give another folder, or remove this one"


@dataclass(frozen=True)
class LensOut:
    """A lens's folder, also before and while it is trained."""

    path: Path

    def checkpoint(self, stage: str) -> Path:
        """The file that an interrupted stage goes on from."""
        return self.path / f"{stage}.checkpoint.safetensors"

    def files(self, fingerprint: str) -> OutputFolder:
        """What the training of this name makes in the folder."""
        return OutputFolder(self.path, "lens", fingerprint, list(LASTING), lasting=LASTING)

    @property
    def is_complete(self) -> bool:
        """Whether a lens is here."""
        return is_lens(self.path)

    def load(self, fingerprint: str) -> Lens:
        """The lens that is here; raises `BadFile` where it is of another run, or broken."""
        if read_object(self.path / RECORD).get("fingerprint") != fingerprint:
            raise BadFile(f"{self.path} holds a lens {OTHERWISE}.")
        return load_lens(self.path)

    def create(self, fingerprint: str) -> None:
        """Make the folder; raises `BadFile` where a model or another run's lens is, or where nothing can be written."""
        if self.files(fingerprint).holds_other_work():
            raise BadFile(f"{self.path} holds what is left of a lens {OTHERWISE}.")
        if (self.path / OTHERS).exists():
            raise BadFile(
                f"{self.path} holds a model; give another folder for the lens, such as {self.path}-lens."
            )
        check_folder(self.path)
        with disk_errors("write", self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def save(self, lens: Lens) -> None:
        """Write the lens."""
        save_lens(lens, self.path)

    def remove_working_files(self, stages: tuple[str, ...]) -> None:
        """Remove what an interrupted run goes on from, once the lens is saved, and what killed writes left."""
        for path in map(self.checkpoint, stages):
            path.unlink(missing_ok=True)
        remove_unfinished(self.path)
