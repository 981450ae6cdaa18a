"""The whole system, simulated: every function of it on in-memory ports, under one schedule and one virtual clock."""
