"""What all checks share: what they are given, what they return, their thresholds, and the files that keep their outcomes."""
