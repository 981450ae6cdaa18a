"""Timings, apart from the tests: they depend on the machine. `make bench` prints them."""
