"""What can decide a label, by construction? One file a planted reason, found by the catalogue."""
