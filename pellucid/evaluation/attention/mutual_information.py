"""Mutual information of words and the states that the weights choose among.

Tutek & Šnajder (2020), "Staying True to Your Word", section 3.4 and table 2 (corrections.md A4.9 and A4.15).
"""

from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.results.t_interval import t_interval
from pellucid.evaluation.information.mutual_information import Grouping, MutualInformation, Vocabulary
from pellucid.evaluation.information.mutual_information import mutual_information as information_of
from pellucid.evaluation.information.word_states import word_states
from pellucid.evaluation.shared.attention_corpus import AttentionCorpus, CorpusLine

VOCABULARIES: dict[str, Vocabulary] = {
    "most frequent words": "most_frequent",
    "random words": "random_sample",
}
NATS = "How much a state says of its word, in nats: 0 nothing, at most the words' entropy. Compare at equal numbers of states and groups."
SHARE = "The same as a share of the words' entropy, 0 to 1."
SHUFFLED = "The same for states of other words: what the estimate is too large by."


@attention_tests.add(better="higher", lowest=0.0, highest=100.0, needs="states", meaning=NATS)
def mutual_information(
    corpus: AttentionCorpus,
    *,
    grouping: Grouping = "separate",
    n_words: int = 1000,
    n_groups: int = 1000,
    n_states: int = 200_000,
    n_seeds: int = 3,
) -> list[CorpusLine]:
    """Of each vocabulary the information, its share of the words' entropy, and that of shuffled pairs.

    The intervals are over n_seeds starts of the grouping. The other settings are those of
    `pellucid.evaluation.information.mutual_information`.
    """
    states = word_states(corpus.model, corpus.examples)
    sizes = {"n_words": n_words, "n_groups": n_groups, "n_states": n_states}
    lines: list[CorpusLine] = []
    for name, vocabulary in VOCABULARIES.items():
        seeds = range(corpus.seed, corpus.seed + max(1, n_seeds))
        runs = [
            information_of(states, vocabulary=vocabulary, grouping=grouping, seed=seed, **sizes)
            for seed in seeds
        ]
        lines += _lines(name, runs)
    return lines


def _lines(name: str, runs: list[MutualInformation]) -> list[CorpusLine]:
    columns = {
        (name, NATS): [run.information for run in runs],
        (f"{name}, share", SHARE): [run.share for run in runs],
        (f"{name}, shuffled", SHUFFLED): [run.shuffled for run in runs],
    }
    return [
        CorpusLine(part, t_interval(values), runs[0].states, meaning=meaning, directed=meaning != SHUFFLED)
        for (part, meaning), values in columns.items()
    ]
