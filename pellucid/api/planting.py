"""The door `plant`: texts whose label has one known reason."""

from pathlib import Path
from typing import Any

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import reasons
from pellucid.core.text.example import Example, Texts
from pellucid.datasets.planting.carriers import carrier_parts
from pellucid.datasets.planting.plant import PARTS
from pellucid.datasets.planting.plant import plant as plant_in
from pellucid.exports.json_lines import write_json_lines


def plant(
    reason: str,
    on: str | Path | Texts = "pocket",
    *,
    out: str | Path | None = None,
    n: int = 1000,
    distractor: float | None = 0.9,
    seed: int = 0,
    **settings: Any,
) -> dict[str, list[Example]]:
    """Texts whose label has one known reason, made of the given ones: the parts train, dev and test.

    reason: "token", "token_pair", "order", "position", "span" or "lexicon"; settings are its own. on: a data set's
    name, a file, a folder, or a list of texts. out: a folder to write the parts to, as JSON lines. n: train texts; dev
    and test have a fifth. distractor: how often, in train, a decoy word goes with its label; None plants no decoys.
    """
    call = reasons.calls([(reason, settings)])[0]
    paths = {} if out is None else {part: Path(out) / f"{part}.jsonl" for part in PARTS}
    for path in filter(Path.exists, paths.values()):
        raise BadFile(f"{path} is there already; give another folder, or remove it.")
    parts = plant_in(carrier_parts(on), call, n=n, distractor=distractor, seed=seed)
    for part, path in paths.items():
        write_json_lines(parts[part], path)
    return parts
