"""The tables of docs/papers/s2.md: models, deletion, agreement across seeds and data sets, words; what was not run is
said.
"""

from collections.abc import Sequence
from pathlib import Path

from studies.quoted_blocks.study_results import result_of
from studies.s2_agreement.numbers import OVER
from studies.s2_agreement.page import KINDS, grid_table, seeds_table
from studies.s2_agreement.page import claims_of as agreement_claims
from studies.s2_deletion.page import WORDS, task_table
from studies.s2_deletion.page import claims_of as deletion_claims
from studies.s2_models.page import accuracy_table
from studies.s2_models.tasks import TASKS
from studies.s2_words.page import words_table
from studies.shared.claims import Claim, claims_table
from studies.shared.markdown import not_run_yet
from studies.shared.units import Numbers


def s2_models_claims(root: Path) -> str:
    """Table 3: how often the models are right."""
    numbers = result_of(root, "s2_models")
    if numbers is None:
        return "Not run yet."
    return f"{_heading(numbers, 's2_models')}{accuracy_table(numbers)}"


def s2_deletion_claims(root: Path) -> str:
    """Figure 1 by data set: right answers while words are taken out, with the paper's claims and ours."""
    numbers = result_of(root, "s2_deletion")
    if numbers is None:
        return "Not run yet."
    blocks = [
        f"**{TASKS[task].title}. {WORDS[operator]}.**\n\n{task_table(numbers, task, operator)}\n\n"
        f"{_claims(deletion_claims(numbers, task, operator), 'points')}"
        for task, of_task in numbers["tasks"].items()
        for operator in of_task["curves"]
    ]
    return f"{_heading(numbers, 's2_deletion')}" + "\n\n".join(blocks)


def s2_seeds_claims(root: Path) -> str:
    """Table 1: agreement of two trainings, over word types and over tokens."""
    numbers = result_of(root, "s2_agreement")
    if numbers is None:
        return "Not run yet."
    blocks = [
        f"**Over {KINDS[over]}.**\n\n{seeds_table(numbers, over)}\n\n"
        f"{_claims(agreement_claims(numbers, f'seeds, {over}'), 'hundredths')}"
        for over in OVER
    ]
    return f"{_heading(numbers, 's2_agreement')}" + "\n\n".join(blocks)


def s2_corpora_claims(root: Path) -> str:
    """Figure 3: agreement of data sets."""
    numbers = result_of(root, "s2_agreement")
    if numbers is None:
        return "Not run yet."
    return f"{grid_table(numbers)}\n\n{_claims(agreement_claims(numbers, 'corpora'), 'hundredths')}"


def s2_words_claims(root: Path) -> str:
    """Tables 2 and 4 to 6: the highest and the lowest words."""
    numbers = result_of(root, "s2_words")
    if numbers is None:
        return "Not run yet."
    blocks = [f"**{TASKS[task].title}.**\n\n{words_table(numbers, task)}" for task in numbers["tasks"]]
    return f"{_heading(numbers, 's2_words')}" + "\n\n".join(blocks)


def _heading(numbers: Numbers, study: str) -> str:
    return f"{not_run_yet(numbers['missing'])}[The study](../../studies/{study}/README.md).\n\n"


def _claims(claims: Sequence[Claim], unit: str) -> str:
    return claims_table(claims, unit, 1).strip() if claims else "No claim could be tested."
