"""Which explanation can be trusted: twelve methods under all metrics and checks, on six corpora."""
