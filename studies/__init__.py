"""One folder a study: a published table or claim, with its numbers beside ours. `shared/` holds what several use."""
