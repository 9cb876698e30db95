"""One file a family of checks, one function a check."""
