"""Where do examples come from? One file a data set or format, found by the catalogue."""
