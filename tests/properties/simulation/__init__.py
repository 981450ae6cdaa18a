"""The whole system, simulated: the production handlers on in-memory ports, under one schedule and one virtual clock.

No threads, no real time, nothing random but what a seed draws; a run is its scenario and the decisions taken in it.
To believe what it says, read in this order:

scenario.py, scenarios.py, tools.py   what is simulated: applications, scripted models, what a client says and when
loop.py, points.py                    virtual time; where an invocation can be held up, killed or failed
ports.py, sync_ports.py, queues.py    the ports behind such points, each effect told to the checker
functions.py, world.py                the deployed functions; deliveries, visibility, dead letters, outages, time
moves.py, choosing.py, run.py         what can happen next, who chooses it, and the loop that does it
commits_seen.py, thread_facts.py, facts.py
                                      what is durable: commits, threads, and everything about the tree of them
rules_*.py, checker.py                the invariants of architecture.md, held against each effect
reference.py, replayed_model.py, same_end.py
                                      each thread without faults, given the same inputs in the same slices; comparison
exhaustive.py, seeds.py, shrink.py    every fault point, every pair; random schedules; making a failing run short
report.py, __main__.py                the command that replays a run, its story, what a set of runs covered
"""
