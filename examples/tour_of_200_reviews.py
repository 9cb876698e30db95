"""Two hundred reviews and a classifier: which words matter, where does it err, what goes to a colleague?

The pages of docs/how-to/tour-of-200-reviews.md as cells for a notebook or an editor. It needs a model in runs/pocket:
pellucid train pocket --out runs/pocket --epochs 4 --learning-rate 2e-4
and the extras plot and pandas.
"""

# %% The model, the reviews, and what their stars mean
import pellucid

model = pellucid.load("runs/pocket")
reviews = pellucid.examples("examples/data/reviews.csv")
stars = {"1": "negative", "2": "negative", "3": "neutral", "4": "positive", "5": "positive"}
print(pellucid.accuracy(model, reviews, label_map=stars))

# %% Explain all of them, and keep the results
results = pellucid.explain(model, reviews, "occlusion", label_map=stars)
pellucid.save(results, "reviews.parquet")
print(results.summary())

# %% Which words speak for and against each class
words = results.words()
print(words)

# %% The mistakes, the surest first
wrong = results.where(correct=False).sorted_by("confidence", ascending=False)
print(wrong[0])
print(results.where(contains="battery").summary())

# %% What the mistakes have in common
analysis = pellucid.error_analysis(model, reviews, train="pocket", method="occlusion", label_map=stars)
print(analysis)

# %% One figure
pellucid.figure(words, "words.pdf", top=5)

# %% Is the method better than chance?
table = pellucid.compare(
    model,
    reviews[:40],
    methods=["occlusion", "span_attention", "integrated_gradients"],
    metrics=["comprehensiveness", "sufficiency"],
    label_map=stars,
)
print(table)

# %% What goes to a colleague
pellucid.report(results, table, path="reviews.html")
pellucid.write_csv(results, "reviews-explained.csv")
frame = results.data_frame()
print(frame[["label", "predicted", "correct", "probability"]].head(3))
