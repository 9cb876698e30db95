"""BLEU and chrF of translations, by sacrebleu, with intervals over sentences and of the difference between two systems.

Papineni and others (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"; Popović (2015), "chrF".
Post (2018), "A Call for Clarity in Reporting BLEU Scores": a score means something only with its signature. The
interval of a difference is that of Koehn (2004), "Statistical Significance Tests for Machine Translation Evaluation":
both systems on the same draws of sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from pellucid.base.checks import at_least, one_of
from pellucid.base.errors import BadInput
from pellucid.base.packages import optional_package
from pellucid.results.bootstrap import percentile_interval, resampled_means
from pellucid.results.interval import Interval

TOKENIZERS = ("13a", "intl", "char", "none")
ORDERS = 4  # the longest n-grams of BLEU


@dataclass(frozen=True)
class TranslationScores:
    """How near translations come to references.

    bleu, chrf: 0 to 100, with 95 % bootstrap intervals over sentences. signature: what was computed, as sacrebleu
    writes it. sentences: how many. length: pieces of the translations divided by those of the references. difference:
    BLEU less that of the baseline on the same draws of sentences; None without a baseline. caveats: why the numbers are
    not to be believed. Ends of an interval are nan for one sentence.
    """

    bleu: Interval
    chrf: float
    signature: str
    sentences: int
    length: float
    difference: Interval | None = None
    caveats: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"BLEU {_numbers(self.bleu)} over {self.sentences:,} sentences; chrF {self.chrf:.1f}; "
            f"length {self.length:.2f} of the references",
            self.signature,
        ]
        if self.difference is not None:
            lines.append(
                f"BLEU less the baseline's: {_numbers(self.difference, sign='+')}, {_verdict(self.difference)}"
            )
        return "\n".join([*lines, *(f"Caution: {caveat}" for caveat in self.caveats)])


def translation_scores(
    texts: Sequence[str],
    references: Sequence[str],
    *,
    baseline: Sequence[str] | None = None,
    tokenize: str = "13a",
    resamples: int = 1000,
    seed: int = 0,
) -> TranslationScores:
    """The scores of texts beside one reference each.

    baseline: another system's translations of the same sentences. tokenize: how sacrebleu cuts words: "13a", "intl",
    "char", or "none" for texts that are cut already. resamples: draws of sentences, 100 or more. Raises `BadInput` for
    lists of other lengths or no texts, `MissingPackage` without sacrebleu.
    """
    check_scoring(tokenize, resamples)
    _check_lengths(texts, references, baseline)
    sacrebleu = optional_package("sacrebleu")
    metric = sacrebleu.metrics.BLEU(tokenize=tokenize)
    whole = metric.corpus_score(list(texts), [list(references)])
    rows = _statistics(metric, texts, references)
    difference = None
    if baseline is not None:
        others = _statistics(metric, baseline, references)
        both = resampled_means(np.concatenate([rows, others], 1), resamples, seed)
        ours, theirs = np.split(both, 2, axis=1)
        drawn = _bleu(metric, ours, len(rows)) - _bleu(metric, theirs, len(rows))
        lead = _bleu(metric, rows.mean(0)[None], len(rows)) - _bleu(metric, others.mean(0)[None], len(rows))
        difference = percentile_interval(float(lead[0]), drawn, len(rows))
    drawn = _bleu(metric, resampled_means(rows, resamples, seed), len(rows))
    return TranslationScores(
        percentile_interval(min(100.0, float(whole.score)), np.minimum(100.0, drawn), len(rows)),
        float(sacrebleu.metrics.CHRF().corpus_score(list(texts), [list(references)]).score),
        str(metric.get_signature()),
        len(rows),
        whole.sys_len / max(1, whole.ref_len),
        difference,
    )


def check_scoring(tokenize: str, resamples: int) -> None:
    """Raise `BadSetting` where nothing can be scored so; for callers that translate first."""
    one_of("tokenize", tokenize, TOKENIZERS)
    at_least("resamples", resamples, 100)


def _check_lengths(texts: Sequence[str], references: Sequence[str], baseline: Sequence[str] | None) -> None:
    counts = {"references": len(references)} | ({} if baseline is None else {"baseline": len(baseline)})
    for name, count in counts.items():
        if count != len(texts):
            raise BadInput(
                f"{len(texts):,} translations and {count:,} texts in {name} came; give one for each, in the same order."
            )
    if not texts:
        raise BadInput("No translation came; give one or more.")


def sentence_statistics(texts: Sequence[str], references: Sequence[str], tokenize: str = "13a") -> np.ndarray:
    """[sentence statistic]: what `bleu_of_means` needs of each sentence."""
    return _statistics(optional_package("sacrebleu").metrics.BLEU(tokenize=tokenize), texts, references)


def bleu_of_means(means: np.ndarray, count: int) -> np.ndarray:
    """[draw]: BLEU of so many sentences with these mean statistics [draw statistic]."""
    return _bleu(optional_package("sacrebleu").metrics.BLEU(), means, count)


def _statistics(metric: Any, texts: Sequence[str], references: Sequence[str]) -> np.ndarray:  # Any: sacrebleu's metric
    """[sentence, 2 x ORDERS + 2]: matches and n-grams of each order, and both lengths; BLEU is a function of their
    sums.
    """
    scores = [metric.corpus_score([text], [[reference]]) for text, reference in zip(texts, references, strict=True)]
    return np.array(
        [[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in scores], dtype=np.float64
    )


def _bleu(metric: Any, means: np.ndarray, count: int) -> np.ndarray:  # Any: sacrebleu's metric
    """[draw, statistic] means over so many sentences -> [draw] BLEU."""
    return np.array(
        [
            metric.compute_bleu(
                correct=row[:ORDERS],
                total=row[ORDERS : 2 * ORDERS],
                sys_len=row[-2],
                ref_len=row[-1],
                smooth_method=metric.smooth_method,
            ).score
            for row in np.rint(means * count).astype(int).tolist()
        ]
    )


def _numbers(interval: Interval, sign: str = "") -> str:
    if isnan(interval.low):
        return f"{interval.mean:{sign}.1f}".replace("-", "−") + " [one sentence: no interval]"
    low, high = (f"{end:{sign}.1f}".replace("-", "−") for end in (interval.low, interval.high))
    return f"{interval.mean:{sign}.1f}".replace("-", "−") + f" [{low}, {high}]"


def _verdict(difference: Interval) -> str:
    if difference.low > 0:
        return "better on these sentences"
    return "worse on these sentences" if difference.high < 0 else "not told apart on these sentences"
