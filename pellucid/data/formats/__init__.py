"""How is a file or folder read? One file a format, found by the catalogue."""
