"""Table 6 of Tutek & Šnajder (2020): attention on LSTMs of one to three layers."""
