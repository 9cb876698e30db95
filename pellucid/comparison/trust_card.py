"""The points of a trust card, in words."""

from collections.abc import Callable, Mapping, Sequence

from pellucid.base.kinds import checks
from pellucid.comparison.leads import (
    FEWEST_TEXTS,
    MUCH_FASTER,
    PLAUSIBILITY,
    Lead,
    Standing,
    is_ahead,
    overall_leads,
    ranked,
    standings,
)
from pellucid.results.bootstrap import t_interval
from pellucid.results.interval import Advice, CheckOutcome, Kind, TrustCard
from pellucid.results.table import COST_SECONDS, LEVEL

HOW_TO_TEST = "Each of these is a check, to be named in checks= (--checks)."
LIMITS = (
    "Most measures take words out of the texts, and the model was not trained on such texts.",
    "Agreement with people's marks says that an explanation looks right, not that the model decided so.",
    "Agreement between methods, seeds or models is no proof that they are right.",
)


def trust_card(
    model: str,
    n_texts: int,
    leads: Sequence[Lead],
    *,
    failures: Mapping[str, Sequence[str]],
    seconds: Mapping[str, float],
    unmeasured: Sequence[str],
    shortcuts: Sequence[str] = (),
) -> TrustCard:
    """The card of a comparison.

    leads: of all methods but chance under all metrics, corrected. failures: method -> the checks that it fails, each as
    the end of a sentence. seconds: method -> seconds a text, as far as they were measured. unmeasured: names of checks
    that were not made. shortcuts: what decides the model's answers by itself, a sentence each.
    """
    of_methods = standings(leads, failures)
    enough = any(lead.n >= FEWEST_TEXTS for lead in leads)
    advice = _verdicts(of_methods, leads, seconds) if enough else [_too_few(n_texts)]
    advice += [*_untested(unmeasured), *(Advice("limits", (), sentence) for sentence in LIMITS)]
    first = [Advice("shortcut", (), sentence) for sentence in shortcuts]
    return TrustCard(model, n_texts, (*first, *advice), _tests(leads))


def _verdicts(of_methods: Sequence[Standing], leads: Sequence[Lead], seconds: Mapping[str, float]) -> list[Advice]:
    faithful = [standing for standing in of_methods if standing.is_faithful]
    judged = [lead for lead in leads if lead.judges != PLAUSIBILITY]
    best, others = ranked(judged, [standing.method for standing in faithful])
    unclear = [standing for standing in of_methods if not (standing.is_faithful or standing.is_useless)]
    avoid = [standing for standing in of_methods if standing.is_useless]
    return [
        _use(best, judged, of_methods),
        *_fast([*best, *others], seconds),
        *_behind_the_best(others, best),
        *_people(leads),
        *_grouped("unclear", unclear, _unclear_reason),
        *_grouped("avoid", avoid, _avoid_reason),
    ]


def texts_needed(n_texts: int) -> str:
    """One sentence, before the work, on what so many texts can say; empty where they are enough for advice."""
    if n_texts >= FEWEST_TEXTS:
        return ""
    verb = "gives" if n_texts == 1 else "give"
    return f"Advice takes {FEWEST_TEXTS} texts or more; {_counted(n_texts, 'text')} {verb} intervals only."


def _too_few(n_texts: int) -> Advice:
    return Advice(
        "use",
        (),
        f"Undecided: {_counted(n_texts, 'text')} {'was' if n_texts == 1 else 'were'} compared, and a recommendation "
        f"takes {FEWEST_TEXTS} or more.",
    )


def _use(best: Sequence[str], leads: Sequence[Lead], of_methods: Sequence[Standing]) -> Advice:
    if not best:
        return Advice(
            "use",
            (),
            "No method: none is better than random scores on more than half of the measures without failing elsewhere.",
        )
    first, *level = best
    standing = next(candidate for candidate in of_methods if candidate.method == first)
    by_text = overall_leads(leads)[first]
    lead = t_interval(by_text[by_text == by_text])
    sentence = (
        f"{first}: better than random scores on {len(standing.ahead)} of {_counted(standing.n_measures, 'measure')} of "
        f"faithfulness, by {lead.mean:.2f} standard deviations in the mean [{lead.low:.2f}, {lead.high:.2f}]."
    )
    if level:
        sentence += f" {_listed(level)} cannot be told apart from it."
    return Advice("use", tuple(best), sentence, tuple(map(_evidence, standing.ahead)))


def _fast(faithful: Sequence[str], seconds: Mapping[str, float]) -> list[Advice]:
    """The fastest faithful method, where it is much faster than the best."""
    timed = [method for method in faithful if method in seconds]
    if not timed or faithful[0] not in seconds:
        return []
    best, fastest = faithful[0], min(timed, key=lambda method: seconds[method])
    if seconds[fastest] > MUCH_FASTER * seconds[best]:
        return []
    share = seconds[best] / seconds[fastest] if seconds[fastest] > 0 else float("inf")
    times = f"{share:.0f} times" if share < 1000 else "a thousand times or more"
    return [
        Advice(
            "fast",
            (fastest,),
            f"{fastest}: faithful too, and {times} as fast as {best} ({seconds[fastest]:.3g} against "
            f"{seconds[best]:.3g} seconds a text).",
        )
    ]


def _people(leads: Sequence[Lead]) -> list[Advice]:
    """The methods that agree best with what people marked, where there are such measures with enough texts."""
    judged = [lead for lead in leads if lead.judges == PLAUSIBILITY and lead.n >= FEWEST_TEXTS]
    if not judged:
        return []
    methods = list(dict.fromkeys(lead.method for lead in judged if is_ahead(lead)))
    best, _ = ranked(judged, methods)
    if not best:
        return [Advice("people", (), "No method agrees with what people marked better than random scores do.")]
    first, *level = best
    ahead = [lead for lead in judged if lead.method == first and is_ahead(lead)]
    sentence = f"{first} agrees best with what people marked."
    sentence += f" {_listed(level)} cannot be told apart from it." if level else ""
    return [Advice("people", tuple(best), sentence, tuple(map(_evidence, ahead)))]


def _behind_the_best(others: Sequence[str], best: Sequence[str]) -> list[Advice]:
    """Methods that are faithful, but less than the best one."""
    if not others:
        return []
    verb = "is" if len(others) == 1 else "are"
    return [
        Advice(
            "second",
            tuple(others),
            f"{_listed(others)} {verb} better than random scores too, but less than {best[0]}.",
        )
    ]


def _unclear_reason(standing: Standing) -> str:
    words = f"better than random scores on {len(standing.ahead)} of {_counted(standing.n_measures, 'measure')}"
    if standing.behind:
        words += f", and worse on {_listed([lead.metric for lead in standing.behind])}"
    return words


def _avoid_reason(standing: Standing) -> str:
    reasons = list(standing.failures)
    if not standing.ahead:
        measures = "the only measure" if standing.n_measures == 1 else f"any of {standing.n_measures} measures"
        reasons.append(f"no better than random scores on {measures}")
    if standing.behind:
        reasons.append(f"worse than random scores on {_listed([lead.metric for lead in standing.behind])}")
    return "; ".join(reasons)


def _grouped(kind: Kind, members: Sequence[Standing], reason_of: Callable[[Standing], str]) -> list[Advice]:
    """A point for each reason, with all methods that it holds for."""
    by_reason: dict[str, list[str]] = {}
    for member in members:
        by_reason.setdefault(reason_of(member), []).append(member.method)
    return [Advice(kind, tuple(methods), f"{_listed(methods)}: {reason}.") for reason, methods in by_reason.items()]


def _untested(unmeasured: Sequence[str]) -> list[Advice]:
    if not unmeasured:
        return []
    questions = [f"{question} ({check})" if (question := _question(check)) else check for check in unmeasured]
    return [Advice("untested", (), f"Not tested of any method: {'; '.join(questions)}. {HOW_TO_TEST}")]


def _question(check: str) -> str:
    """What a check tests, in plain words; empty where its plug-in is not installed or says nothing."""
    return str(checks.get(check).facts["asks"]) if check in checks.names() else ""


def _tests(leads: Sequence[Lead]) -> str:
    methods, metrics = {lead.method for lead in leads}, {lead.metric for lead in leads}
    return (
        f"Paired tests against random scores on the same texts, at {LEVEL:.0%} over all {len(methods)} × "
        f"{len(metrics)} = {len(leads)} tests together (Holm's correction); 95 % intervals."
    )


def _evidence(lead: Lead) -> str:
    p = "p < .001" if lead.p < 0.001 else f"p = {lead.p:.3f}"
    return (
        f"{lead.metric}: {lead.mean.mean:+.3f} [{lead.mean.low:+.3f}, {lead.mean.high:+.3f}] over random scores, n "
        f"= {lead.n:,}, {p}"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# What checks say of methods, as a trust card reads it: failures, seconds, and what was not checked.


def failures_of(outcomes: Sequence[CheckOutcome]) -> dict[str, list[str]]:
    """Method -> the checks that it fails, each as the end of a sentence, with the first number that fails."""
    failures: dict[str, list[str]] = {}
    for outcome in outcomes:
        for method in outcome.methods:
            failed = [line for line in outcome.of_method(method) if line.passed is False]
            if failed:
                beside = f" {failed[0].beside}" if failed[0].beside else ""
                measured = f"{failed[0].measure}{beside} {failed[0].value.mean:.2f}"
                failures.setdefault(method, []).append(f"fails {outcome.check} ({measured})")
    return failures


def seconds_of(outcomes: Sequence[CheckOutcome]) -> dict[str, float]:
    """Method -> seconds a text, where the check `cost` was made."""
    return {
        line.method: line.value.mean for outcome in outcomes for line in outcome.lines if line.measure == COST_SECONDS
    }


def unmade_checks(outcomes: Sequence[CheckOutcome]) -> list[str]:
    """The checks that can fail a method, and `cost`, as far as they were not made."""
    finished = {outcome.check.partition("(")[0] for outcome in outcomes}
    telling = [name for name in checks.names() if checks.get(name).facts["rule"] or name == "cost"]
    return [name for name in telling if name not in finished]
