"""What happens if a word changes? A program that serves pages: every view is an address, drawn on the server."""
