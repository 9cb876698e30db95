"""The commands of models that write."""
