"""What may stand in a unit's place, one file each."""
