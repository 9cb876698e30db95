"""What kind of encoder a name or a folder stands for, before anything is loaded."""

from pathlib import Path

from pellucid.core.foundation.json_text import read_json
from pellucid.models.composed.composed import CONFIG, is_composed


def encoder_kind(source: str) -> str:
    """The model type in a composed model's folder, such as "bilstm"; any other source as it is."""
    if not is_composed(source):
        return source
    config = read_json(Path(source) / CONFIG).get("encoder_config")
    return str(config.get("model_type", source)) if isinstance(config, dict) else source
