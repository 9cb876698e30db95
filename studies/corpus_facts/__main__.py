"""`python -m studies.corpus_facts --out PAGE` fills the numbers into the datasheet."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pellucid.base.files import read_text, write_text
from studies.corpus_facts import facts


def main(words: Sequence[str] | None = None) -> None:
    """Fill the numbers into the page of --out."""
    parser = argparse.ArgumentParser(description=facts.__doc__)
    parser.add_argument("--out", type=Path, required=True, help="a page with the two markers")
    page = parser.parse_args(words).out
    write_text(page, facts.filled(read_text(page)))


if __name__ == "__main__":
    main()
