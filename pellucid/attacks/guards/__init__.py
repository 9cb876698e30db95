"""Which edits are allowed, one file each."""
