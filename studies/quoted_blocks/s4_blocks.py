"""The tables of docs/papers/s4.md: models of attention, corpora, depths, starts and known reasons; what was not run is
said.
"""

from collections.abc import Sequence
from pathlib import Path

from studies.quoted_blocks.study_results import result_of
from studies.s4_adversary.page import claims_text, points_table
from studies.s4_fragility.information_page import information_text
from studies.s4_fragility.numbers import CLAIMS, claims_of
from studies.s4_fragility.page import degenerate_models, models_table
from studies.s4_fragility.paper import TABLE_5
from studies.s4_fragility.tasks import TASKS
from studies.s4_start.page import claims_of as claims_of_start
from studies.s4_verdicts.page import deception_text, planted_table
from studies.s4_verdicts.verdict_tables import verdicts_text
from studies.s4_weights.page import models_table as models_table_of_weights
from studies.s4_weights.page import verdicts_table
from studies.shared.attention_models import PAPER_NAMES, SIGNS, hyper_parameters
from studies.shared.claims import Claim, claim_of, claims_table
from studies.shared.markdown import markdown_table, not_run_yet


def s4_settings(root: Path) -> str:
    """Table 4: the paper's hyper-parameters and ours, read from plan and recipe."""
    return markdown_table(["", "paper", "here"], hyper_parameters())


def s4_corpora_claims(root: Path) -> str:
    """Table 5: words and vocabulary of the corpora, the paper's and those that our models learn from."""
    rows = []
    for task, one in TASKS.items():
        if one.paper:
            numbers, (length, vocabulary) = result_of(root, f"s4_fragility/{task}"), TABLE_5[one.paper]
            here = ["not run yet", "", ""]
            if numbers is not None:
                about = numbers["about"]
                here = [f"{about['n_train']:,}", f"{about['mean_words']:.0f}", f"{about['vocabulary']:,}"]
            rows.append([one.title, f"{length:,}", f"{vocabulary:,}", *here])
    head = ["corpus", "paper: words of a text", "vocabulary", "here: texts", "words of a text", "vocabulary"]
    return markdown_table(head, rows)


def s4_fragility_claims(root: Path) -> str:
    """Tables 1 and 3 by corpus, with the paper's claims."""
    return "\n\n".join(_fragility(root, task) for task, one in TASKS.items() if one.paper)


def s4_weights_claims(root: Path) -> str:
    """Tables 1 and 3 on SST at every weight of tying and of masked words, over word vectors as large as GloVe's."""
    numbers = result_of(root, "s4_weights/sst2")
    if numbers is None:
        return "Not run yet."
    about = numbers["about"]
    heading = f"SST; {about['n_train']:,} texts to learn from, {about['n_test']:,} judged."
    return (
        f"{not_run_yet(numbers['missing'])}{heading}\n\n{models_table_of_weights(numbers)}\n\n{verdicts_table(numbers)}"
    )


def s4_information_claims(root: Path) -> str:
    """Table 2 by corpus, with the paper's claim."""
    return "\n\n".join(_information(root, task) for task, one in TASKS.items() if one.paper)


def s4_layers_claims(root: Path) -> str:
    """Table 6: one to three layers."""
    numbers = result_of(root, "s4_layers")
    if numbers is None:
        return "Not run yet."
    about = numbers["about"]
    heading = f"SST; {about['n_train']:,} texts to learn from, {about['n_test']:,} judged."
    return f"{not_run_yet(numbers['missing'])}{heading}\n\n{_table(list(map(claim_of, numbers['claims'])))}"


def s4_adversary_claims(root: Path) -> str:
    """Figure 1: how far the weights of a new model can lie."""
    numbers = result_of(root, "s4_adversary")
    if numbers is None:
        return "Not run yet."
    about = numbers["about"]
    heading = (
        f"SST; {about['train']:,} texts to learn from, {about['n_test']:,} judged; [the "
        f"curves](../../studies/s4_adversary/README.md)."
    )
    return f"{not_run_yet(numbers['missing'])}{heading}\n\n{points_table(numbers)}\n\n{claims_text(numbers)}".strip()


def s4_start_claims(root: Path) -> str:
    """Appendix C: the start of the query."""
    numbers = result_of(root, "s4_start")
    if numbers is None:
        return "Not run yet."
    heading = f"SST; log T − entropy at the last step, in hundredths of a nat, {numbers['about']['watched']} texts."
    return f"{not_run_yet(numbers['missing'])}{heading}\n\n{_table(claims_of_start(numbers))}"


def s4_verdicts_claims(root: Path) -> str:
    """Known reasons, and the model that deceives."""
    numbers = result_of(root, "s4_verdicts")
    if numbers is None:
        return "Not run yet."
    claims = _table(list(map(claim_of, numbers["claims"])))
    deception = deception_text(numbers["deception"], numbers["about"])
    verdicts = verdicts_text(numbers["verdicts"])
    return f"{not_run_yet(numbers['missing'])}{planted_table(numbers)}\n\n{claims}\n\n{verdicts}\n{deception}".strip()


def _fragility(root: Path, task: str) -> str:
    title, numbers = TASKS[task].title, result_of(root, f"s4_fragility/{task}")
    if numbers is None:
        return f"{title}: not run yet."
    about = numbers["about"]
    cut = f", cut after {about['words']} words" if about["words"] else ""
    weights = ", ".join(
        f"{PAPER_NAMES[name]} {SIGNS[name]} = {one:g}" for name, one in numbers["choice"]["weights"].items()
    )
    heading = f"{title}: {about['n_train']:,} texts to learn from, {about['n_test']:,} judged{cut}; {weights}."
    claims = [claim for kind in CLAIMS for claim in claims_of(numbers, kind)]
    caution = degenerate_models(numbers)
    return f"{not_run_yet(numbers['missing'])}{heading}\n\n{caution}{models_table(numbers)}\n\n{_table(claims)}"


def _information(root: Path, task: str) -> str:
    title, paper, numbers = TASKS[task].title, TASKS[task].paper, result_of(root, f"s4_fragility/{task}")
    if numbers is None or not numbers["information"]["models"]:
        return f"{title}: not run yet."
    return f"{title}.\n\n{information_text(numbers['information'], paper, numbers['about'])}".strip()


def _table(claims: Sequence[Claim]) -> str:
    return claims_table(claims, "points", 1).strip() if claims else "No claim could be tested."
