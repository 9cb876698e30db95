"""JSON files of a stranger's folder: read only up to a size, and refused in one sentence."""

from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import disk_errors
from pellucid.core.foundation.json_text import Json, parsed

LARGEST = 16 << 20  # bytes; the configuration of a classifier with 100,000 classes has half of that


def read_object(path: Path) -> dict[str, Json]:
    """The JSON object in a file; raises `BadFile` for anything else, and for more than 16 MB."""
    with disk_errors("read", path), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadFile(
            f"{path} has more than {LARGEST >> 20} MB, which no configuration needs; give another folder."
        )
    try:
        values = parsed(content.decode("utf-8-sig"))
    except ValueError:
        raise BadFile(f"{path} is not JSON, or nested too deeply.") from None
    if not isinstance(values, dict):
        raise BadFile(f"{path} is not a JSON object; save the model anew with save_pretrained.")
    return values
