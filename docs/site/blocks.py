"""Which blocks of code have been run as they stand: blocks.json, which the tests of the blocks write.

The site is built without PyTorch, so it cannot run the blocks of its pages. `python -m tests.test_blocks` runs them
and, where all pass, notes a digest of each page's blocks; the build stops at a page whose blocks are others by now.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

RECORD = Path(__file__).with_name("blocks.json")
BLOCKS = re.compile(r"^ *```(?:python|pycon|sh|bash|console)\n.*?^ *```", re.MULTILINE | re.DOTALL)
RUN = "python -m tests.test_blocks"


def digests(pages: Mapping[str, str]) -> dict[str, str]:
    """Path of a page -> the digest of its blocks, for pages that have any. pages: their Markdown, by path."""
    texts = {name: "\n".join(BLOCKS.findall(text)) for name, text in pages.items()}
    return {name: sha256(text.encode()).hexdigest()[:16] for name, text in sorted(texts.items()) if text}


def write(pages: Mapping[str, str], path: Path | None = None) -> None:
    """Note that all blocks of these pages have been run."""
    (path or RECORD).write_text(json.dumps(digests(pages), indent=1) + "\n", encoding="utf-8")


def faults(pages: Mapping[str, str], path: Path | None = None) -> list[str]:
    """A sentence for each page whose blocks are not those that were run last."""
    path = path or RECORD
    run = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [
        f"{name}: its blocks of code have not been run as they stand; run `{RUN}`, and commit {path.name}."
        for name, digest in digests(pages).items()
        if run.get(name) != digest
    ]
