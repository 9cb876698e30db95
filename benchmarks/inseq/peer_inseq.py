"""Inseq's saliency of every written piece, on the same folder and the same pairs of texts; run by a Python that has
Inseq.

    PYTHON peer_inseq.py JOB.json       # prints one line of JSON for each line on standard input: processor seconds

JOB.json: the translator's folder, the pairs, and how many Inseq reads at once. The model is loaded and asked once
before the clock runs.
"""

import json
import sys
import time
from pathlib import Path

import inseq
import torch


def main() -> None:
    """Explain all pairs of the job, once for each line that comes."""
    torch.set_num_threads(1)
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    model = inseq.load_model(job["folder"], "saliency", device="cpu")
    sources, targets = map(list, zip(*job["pairs"], strict=True))

    def explain(count: int) -> None:
        model.attribute(
            sources[:count],
            targets[:count],
            attribute_target=True,
            batch_size=job["batch_size"],
            show_progress=False,
        )

    explain(1)
    for _ in sys.stdin:
        start = time.process_time()
        explain(len(sources))
        print(json.dumps({"seconds": time.process_time() - start}), flush=True)


if __name__ == "__main__":
    main()
