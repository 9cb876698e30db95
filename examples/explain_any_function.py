"""Explain what you cannot look into: any function from texts to probabilities, and a scikit-learn pipeline."""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid


def rules(texts: list[str]) -> list[list[float]]:
    """Probabilities of (negative, positive): rules stand in for a service that answers over a network."""
    scores = [0.2 + 0.6 * ("lovely" in text) - 0.15 * ("dull" in text) for text in texts]
    return [[1 - score, score] for score in scores]


if __name__ == "__main__":
    service = pellucid.from_function(rules, labels=("negative", "positive"), name="rules")
    print(pellucid.explain(service, "A lovely film, a dull ending.", "occlusion", output="probability")[0])

    train, test = (pellucid.examples("pocket", split=split) for split in ("train", "test"))
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10, max_iter=1000))
    pipeline.fit([example.text for example in train], [example.label for example in train])
    model = pellucid.from_pipeline(pipeline)
    print(f"accuracy on test {pellucid.accuracy(model, test)}")
    print(pellucid.explain(model, test[0], "occlusion")[0])
    try:
        pellucid.explain(model, test[0], "integrated_gradients")
    except pellucid.PellucidError as error:
        print(error)
