"""Routes of a pass: how a network's passes are computed, never what; one file a route."""
