"""How edits are combined, one file each."""
