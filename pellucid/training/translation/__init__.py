"""Training of translators."""
