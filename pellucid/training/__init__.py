"""How is a self-explaining model trained? One loop, penalties, selection on dev only."""
