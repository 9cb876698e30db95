"""In which order units are edited, one file each."""
