"""Penalties: terms that training adds to the loss of the labels, one file each."""
