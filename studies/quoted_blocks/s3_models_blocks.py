"""Tables of docs/papers/s3.md about trained models: table 2, figures 4 and 9; what was not run is said."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from studies.quoted_blocks.study_results import result_of
from studies.s3_accuracy.models import PAPER_NAMES, PRETRAINED, TITLES
from studies.s3_accuracy.tasks import MEASURES, TASKS
from studies.s3_decay.numbers import MEASURES as DECAY_UNITS
from studies.s3_training.numbers import UNITS
from studies.shared.claims import claim_of, claims_table, signed_interval, weighed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers


def s3_accuracy_claims(root: Path) -> str:
    """Table 2: each model on each data set, ours and the paper's, and whether the pretrained one is best."""
    published = [task for task, one in TASKS.items() if one.paper]
    return "\n\n".join(_accuracy(root, task) for task in published)


def s3_decay_claims(root: Path) -> str:
    """Figure 4: the larger the penalty, the less is kept."""
    numbers = result_of(root, "s3_decay")
    if numbers is None:
        return "Not run yet."
    about = numbers["about"]
    changed = "; ".join(
        f"α = {one['l2']}: {one['n_stopped']} of {one['n_words']} words no longer used, {one['n_more']} used more"
        for one in numbers["changes"]
        if not one["why_not"]
    )
    words = f"Compared with the model without a penalty, {changed}." if changed else ""
    heading = f"{about['n_explained']} sentences; {about['n_train']:,} to learn from. {words}".strip()
    return f"{not_run_yet(numbers['missing'])}{heading}\n\n{_table(numbers['claims'], DECAY_UNITS)}"


def s3_training_claims(root: Path) -> str:
    """Figure 9: what layers hold while a model is trained."""
    numbers = result_of(root, "s3_training")
    if numbers is None:
        return "Not run yet."
    about = numbers["about"]
    heading = f"{about['watched']} sentences, every {about['every']} steps; {about['n_train']:,} to learn from."
    return f"{not_run_yet(numbers['missing'])}{heading}\n\n{_table(numbers['claims'], UNITS)}"


def _accuracy(root: Path, task: str) -> str:
    title, paper = TASKS[task].title, TASKS[task].paper or {}
    numbers = result_of(root, f"s3_accuracy/{task}")
    if numbers is None:
        return f"{title}: not run yet."
    about, rows = numbers["about"], []
    for name, one in numbers["models"].items():
        score = "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**one["score"])
        about_it = (claim for claim in numbers["claims"] if claim["words"].endswith(f" {PAPER_NAMES[name]}"))
        rows.append([TITLES[name], f"{paper[name]:.1f}", one["seeds"], score, *_behind(next(about_it, None))])
    heading = (
        f"{title}, {MEASURES[TASKS[task].measure]}; {about['n_train']:,} texts to learn from, "
        f"{about['n_test']:,} judged."
    )
    head = ["model", "paper", "seeds", "here [95 %]", f"{TITLES[PRETRAINED]} is ahead by", ""]
    return f"{not_run_yet(numbers['missing'])}{heading}\n\n{markdown_table(head, rows)}"


def _behind(record: Numbers | None) -> list[str]:
    """How far a model is behind the pretrained one, and the verdict; nothing of the pretrained one itself."""
    if record is None:
        return ["–", ""]
    claim = claim_of(record)
    return [signed_interval(claim.measured, 1), weighed(claim.verdict, claim.beside)]


def _table(by_measure: Mapping[str, Sequence[Numbers]], units: Mapping[str, str]) -> str:
    tables = [
        claims_table(list(map(claim_of, claims)), units[measure], 1) for measure, claims in by_measure.items() if claims
    ]
    return "\n".join(tables).strip()
