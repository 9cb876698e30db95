"""The tables of docs/papers/s1.md: claims of the games, of shared words and of a planted word; what was not run is
said.
"""

from pathlib import Path

from studies.quoted_blocks.study_results import result_of
from studies.s1_games.tasks import NAMES
from studies.shared.claims import claim_of, claims_table


def s1_games_claims(root: Path) -> str:
    """The claims of tables 1 and 2."""
    return "\n\n".join(_of_task(root, "s1_games", task) for task in NAMES)


def s1_words_claims(root: Path) -> str:
    """The claim of figure 4."""
    return "\n\n".join(_of_task(root, "s1_words", task) for task in NAMES)


def s1_planted_claims(root: Path) -> str:
    """Whether decoded saliency finds a word that is known to decide the label."""
    numbers = result_of(root, "s1_planted")
    if numbers is None:
        return "Not run yet."
    claims = [claim_of(one) for one in numbers["claims"]]
    if not claims:
        return "No classifier has learnt the word, so nothing can be said."
    layer = numbers["layers"]["decoded_saliency"]
    page = "[The study](../../studies/s1_planted/README.md)"
    heading = f"{page}, {numbers['texts']:,} texts; the layer of dev is l = {layer}."
    return f"{heading}\n\n{claims_table(claims, 'points', 1)}".strip()


def _of_task(root: Path, study: str, task: str) -> str:
    numbers = result_of(root, f"{study}/{task}")
    if numbers is None:
        return f"{NAMES[task]}: not run yet."
    missing = "".join(f" Not run: {name} ({why})." for name, why in numbers["missing"].items())
    claims = [claim_of(one) for one in numbers["claims"]]
    heading = f"{numbers['about']['title']}, {numbers['about']['n_texts']:,} texts.{missing}"
    if not claims:
        return f"{heading} No claim could be tested."
    return f"{heading}\n\n{claims_table(claims, 'points', 1)}".strip()
