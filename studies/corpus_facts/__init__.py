"""The numbers of our own corpora's datasheet."""
