"""A method of your own: a function and a decorator, then everything works with it.

python examples/add_a_method.py path/or/hub-name
"""

import argparse

import pellucid
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import ResolvedTarget


@attributions.add(needs={"gradient"}, cost="1 forward + 1 backward")
def steepest_dimension(run: ForwardPass, target: ResolvedTarget) -> Scores:
    """The entry of largest size in the target's gradient by each piece's word embedding; signed."""
    gradient = run.gradient(target)  # [example unit width]
    return run.scores(gradient.gather(-1, gradient.abs().argmax(-1, keepdim=True))[..., 0])


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", help="a folder with a classifier, or a hub name")
model = pellucid.load(parser.parse_args().model)

print(pellucid.explain(model, "A gripping, lovely film.", method="steepest_dimension")[0])
print(pellucid.compare(model, pellucid.examples("pocket")[:10], ["steepest_dimension"], ["comprehensiveness"]))
