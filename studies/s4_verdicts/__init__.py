"""Models of attention whose reason is known: planted reasons, and weights that are trained to deceive."""
