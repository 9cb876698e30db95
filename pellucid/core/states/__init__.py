"""Hidden states as targets: what is explained of them, states as functions of word embeddings, and their scale."""
