"""HTML, escaped, and its style."""
