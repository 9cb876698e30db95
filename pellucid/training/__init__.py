"""How a self-explaining model is trained: one loop, penalties, and dev alone chooses the epoch."""
