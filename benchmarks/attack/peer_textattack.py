"""TextAttack's PWWS on the same classifier with the same synonyms; run by a Python that has TextAttack.

    PYTHON peer_textattack.py JOB.json       # prints one line of JSON for each line on standard input: the seconds, and what was fooled

JOB.json: the classifier's folder, the texts with their classes, and for each text word -> its synonyms. What is
measured is the attacks alone: the model is loaded and asked once before.
"""

# ruff: noqa: E402 - what TextAttack asks for must be there before it is imported
import json
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nltk
import torch

# TextAttack imports flair, which fails with the newest transformers, and reads a list of stop words that has to be
# downloaded. These attacks use neither, so an empty one of each is enough.
for name, things in {
    "flair": ["device"],
    "flair.data": ["Sentence", "Tokenizer"],
    "flair.models": ["SequenceTagger"],
}.items():
    module = sys.modules[name] = ModuleType(name)
    module.__dict__.update({thing: type(thing, (), {}) for thing in things})
sys.modules["flair"].data = sys.modules["flair.data"]
nltk.corpus.stopwords = SimpleNamespace(words=lambda language: [])

from textattack import Attack
from textattack.constraints.pre_transformation import RepeatModification
from textattack.goal_function_results import GoalFunctionResultStatus
from textattack.goal_functions import UntargetedClassification
from textattack.models.wrappers import ModelWrapper
from textattack.search_methods import GreedyWordSwapWIR
from textattack.transformations import WordSwap
from transformers import AutoModelForSequenceClassification, AutoTokenizer


class SameSynonyms(WordSwap):
    """Exchanges a word for the synonyms that the job names."""

    def __init__(self) -> None:
        super().__init__()
        self.table: dict = {}

    def _get_replacement_words(self, word: str) -> list:
        return self.table.get(word, [])


class Wrapped(ModelWrapper):
    """As TextAttack's wrapper of transformers, which fails with their newest release: a batch padded to its longest
    text.
    """

    def __init__(self, folder: str) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def __call__(self, texts: list) -> torch.Tensor:
        inputs = self.tokenizer(list(texts), padding=True, truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            return self.model(**inputs).logits


def main() -> None:
    """Attack all texts of the job, once for each line that comes."""
    torch.set_num_threads(1)
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    wrapped, transformation = Wrapped(job["folder"]), SameSynonyms()
    wrapped(["A text before the clock runs."])
    for _ in sys.stdin:
        attack = Attack(
            UntargetedClassification(wrapped),
            [RepeatModification()],
            transformation,
            GreedyWordSwapWIR("weighted-saliency"),
        )
        fooled, queries, start = 0, 0, time.perf_counter()
        for text, label, table in zip(job["texts"], job["labels"], job["synonyms"], strict=True):
            transformation.table = table
            result = attack.attack(text, label)
            fooled += result.perturbed_result.goal_status == GoalFunctionResultStatus.SUCCEEDED
            queries += result.perturbed_result.num_queries
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "fooled": fooled, "queries": queries}), flush=True)


if __name__ == "__main__":
    main()
