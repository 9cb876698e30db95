"""What commands print: safe lines, lists of what is registered, and how a training ended."""
