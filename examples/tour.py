"""Three hundred requests and a classifier: which words matter, where does it err, what goes to a colleague?

The pages of docs/how-to/tour.md as cells for a notebook or an editor. It needs a model in runs/helpdesk:
pellucid train helpdesk --out runs/helpdesk --epochs 4 --learning-rate 2e-4 --batch-size 32
and the extras plot and pandas.
"""

# %% The model and the requests
import pellucid

model = pellucid.load("runs/helpdesk")
requests = pellucid.examples("examples/data/requests.csv")
print(pellucid.accuracy(model, requests))

# %% Does one word decide?
shortcuts = pellucid.shortcuts(model, pellucid.examples("helpdesk", "train"))
print(shortcuts)

# %% Explain all of them, and keep the results
results = pellucid.explain(model, requests, "occlusion")
pellucid.save(results, "requests.parquet")
print(results.summary())

# %% Which words speak for and against each class
words = results.words()
print(words)

# %% The mistakes, the surest first
wrong = results.where(correct=False).sorted_by("confidence", ascending=False)
print(wrong[0])
print(results.where(contains="invoice").summary())

# %% What the mistakes have in common
analysis = pellucid.error_analysis(model, requests, train="helpdesk", method="occlusion")
print(analysis)

# %% One figure
pellucid.figure(words, "words.pdf", top=5)

# %% Is the method better than chance?
table = pellucid.compare(
    model,
    requests[:100],
    methods=["occlusion", "span_attention", "integrated_gradients"],
    metrics=["comprehensiveness", "sufficiency"],
)
print(table)

# %% What goes to a colleague
pellucid.report(results, table, path="requests.html", shortcuts=shortcuts)
pellucid.write_csv(results, "requests-explained.csv")
frame = results.data_frame()
print(frame[["label", "predicted", "correct", "probability"]].head(3))
