"""The views of the studio: a file and a registration each."""
