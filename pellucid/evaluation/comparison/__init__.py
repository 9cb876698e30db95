"""Methods x metrics over many texts, in parts that can be resumed."""
