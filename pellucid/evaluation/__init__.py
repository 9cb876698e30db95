"""Is the explanation any good? One file a metric, found by the catalogue."""
