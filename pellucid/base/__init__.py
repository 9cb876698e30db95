"""What every room stands on: catalogues, checks, errors, files, progress."""
