"""Models that write: translators and language models."""
