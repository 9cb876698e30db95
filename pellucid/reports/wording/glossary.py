"""The terms that a reader of a page may not know, each with what it means; docs/how-to/read-a-report.md lists them too."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "piece": "What the model’s tokenizer cuts words into: a short word is one piece, a rare one several.",
        "span": "Neighbouring words of a text, from one word to the whole text.",
        "logit": "The model’s score for a class before it is turned into a probability.",
        "parity": (
            "How far the answer that is explained is from the model’s own answer to the text. It should be as good as 0."
        ),
        "digest": "A fingerprint of the model’s weights: two models with the same digest are the same model.",
        "seed": "The number that random draws start from. The same seed gives the same draws.",
        "operator": (
            "How words are taken out of a text: absent (the others keep their places), mask, pad or delete."
        ),
        "reference": "What counts as a right answer: gold, the label of the text, or the model’s own prediction.",
        "pooler": "The part of a model that makes one vector of a whole text from those of its words.",
        "twin": "A model with the same encoder, recipe and seed that differs in one part, for comparison.",
        "decoy": "A planted word that often goes with a label without deciding it.",
    }
)


def terms_in(texts: Iterable[str]) -> dict[str, str]:
    """The terms that some texts use, also in the plural or as a part of a name, with what they mean."""
    words = {word for text in texts for word in re.findall(r"[a-z]+", text.lower())}
    return {term: meaning for term, meaning in GLOSSARY.items() if words & {term, f"{term}s"}}
