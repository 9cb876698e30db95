"""Ten million texts: runs over a corpus that go on after any interruption."""
