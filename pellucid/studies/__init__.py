"""One file a published table or claim, its numbers beside ours."""
