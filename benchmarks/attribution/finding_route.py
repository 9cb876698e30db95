"""The fastest route for one model and so many threads, by the package's own trial."""

import os
from tempfile import TemporaryDirectory
from typing import Any

import torch

import pellucid


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Its name, and why it is chosen, in words."""
    torch.set_num_threads(request["threads"])
    with TemporaryDirectory() as folder:
        os.environ["PELLUCID_CACHE"] = folder  # no earlier trial answers
        choice = pellucid.load(request["folder"], route="auto").route_choice
    return {"name": choice.name, "why": choice.why}
