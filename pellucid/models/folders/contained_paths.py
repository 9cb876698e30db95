"""Whether a file of a model folder lies inside it: a stranger's folder must not name files elsewhere."""

from pathlib import Path

from huggingface_hub import constants

from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors
from pellucid.base.wording import quoted

READ = (".json", ".safetensors", ".txt", ".model", ".jinja")  # what the libraries may open
LARGEST = 64 << 20  # bytes of one that is read whole; the largest tokenizer.json in use has half of that


def check_files(folder: Path) -> None:
    """Raise `BadFile` when a file that may be read is a link that leads outside, a pipe, a device or far too large.

    A link into the hub's cache is allowed: there a snapshot's files are links to blobs.
    """
    with disk_errors("read", folder):
        for path in folder.iterdir():
            if path.suffix in READ and (path.is_symlink() or not path.is_dir()):
                _check_target(path, folder)


def _check_target(path: Path, folder: Path) -> None:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise BadFile(f"{path} is a link that leads nowhere; put the file there.") from None
    if not target.is_file():
        raise BadFile(f"{path} is not a file; put one there.")
    if path.suffix != ".safetensors" and target.stat().st_size > LARGEST:
        raise BadFile(
            f"{path} has more than {LARGEST >> 20} MB, which no tokenizer needs; give another folder."
        )
    whole = folder.resolve()
    allowed = [whole, Path(constants.HF_HUB_CACHE).resolve()]
    if whole.parent.name == "snapshots":
        allowed.append(whole.parents[1] / "blobs")
    if path.is_symlink() and not any(target.is_relative_to(place) for place in allowed):
        raise BadFile(f"{path} is a link that leads out of its folder; put the file itself there.")


def file_inside(folder: Path, name: object, where: str) -> Path:
    """The file of that name directly in a folder; raises `BadFile` for a name that leads elsewhere.

    where: the file that names it.
    """
    plain = isinstance(name, str) and name not in ("", ".", "..") and not set(name) & set("/\\:\0")
    if not plain:
        raise BadFile(
            f"{folder / where} names the weights {quoted(str(name))}; only files beside it are read."
        )
    return folder / str(name)
