"""Tables 1, 3 and 5 of Tutek & Šnajder (2020): attention whose weights are changed after training."""
