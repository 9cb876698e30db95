"""Composed models: encoder x pooler x head."""
