"""The commands that explain, draw and list, and the options that all commands share."""
