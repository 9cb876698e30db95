"""One forward pass: rows, windows, targets, models, and what is computed from them."""
