"""How piece vectors become one vector a text: one file a pooler, found by the catalogue."""
