"""What an attack wants, one file each."""
