"""One extension of each kind, registered from outside."""
