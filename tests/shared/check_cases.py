"""Checks on the tiny model: what `compare` gives them, without the metrics."""

from dataclasses import replace
from functools import cache

import torch

from pellucid.base.kinds import checks
from pellucid.base.processes import silent
from pellucid.comparison.check_case import CheckCase, TextIntervals
from pellucid.comparison.checking import OurChanges, checking_of
from pellucid.comparison.compared_part import compared_part
from pellucid.comparison.comparison_of import comparison_of
from pellucid.comparison.run_checks import PlannedCheck, run_checks
from pellucid.comparison.scored_text import by_method, joined
from pellucid.explaining.read import read
from pellucid.run.target import Target
from tests.shared.cases import examples, model

METHODS = ("gradient", "integrated_gradients", ("chance", {"n_draws": 2}))


@cache
def twin():
    """The tiny model with weights that are a little different, as another training has them."""
    from copy import deepcopy

    network = deepcopy(model().network)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.02 * parameter.std().nan_to_num() * torch.randn(parameter.shape, generator=generator)
    return replace(model(), network=network, name="twin")


def comparison(methods=METHODS, texts=None):
    """The comparison of the tiny texts by one metric."""
    return comparison_of(
        model(), texts or examples(), methods, ["comprehensiveness"], target=Target(), seed=0, resamples=50
    )


@cache
def explained(methods=METHODS):
    """The scored texts of the comparison, computed once."""
    question = comparison(methods)
    parts = [compared_part(question, number, silent) for number in range(question.n_parts)]
    every = (by_method(one for of_method in part.explanations.values() for one in of_method) for part in parts)
    return joined(every, [call.title for call in question.request.calls])


def case(scores=None, **more):
    """What a check is given; scores: method -> texts instead of the model's own."""
    question = comparison()
    return CheckCase(
        question.request,
        question.examples,
        explained() if scores is None else scores,
        TextIntervals(50, 0),
        OurChanges(),
        **{"twins": {"twin": twin()}, "corpora": {"others": explained()}, **more},
    )


def outcome(name, of_case=None, **settings):
    """The outcome of one check with these settings."""
    (call,) = checks.calls([(name, settings)])
    (one,) = run_checks((PlannedCheck(call, {}),), lambda: of_case or case(), None, silent)
    return one


def checking(*names, **more):
    """As `compare` plans it."""
    return checking_of(comparison(), list(names), read=read, **more)
