"""Near words in the order of their importance, as long as the text says about the same.

Jin et al. (2020), "Is BERT Really Robust? A Strong Baseline for Natural Language Attack on Text Classification and Entailment", algorithm 1.
Where the paper has counter-fitted vectors and the Universal Sentence Encoder, neither of which is a package, ours are the model's own
vectors and MiniLM; opposites are kept out by WordNet.
"""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="word", needs={"gradient"}, source="after Jin et al. (2020)")
def textfooler(*, least: float = 0.8) -> AttackPlan:
    """Words by occlusion, each by the near word that helps most; least: similarity of the texts, -1 to 1."""
    guards = ("content_words", "antonyms", ("similarity", {"least": least}))
    return AttackPlan("occlusion", ("neighbours",), guards)
