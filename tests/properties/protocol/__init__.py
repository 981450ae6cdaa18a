"""storage.md's protocol as a small state machine, explored exhaustively. Read `slices` first, then `rules`."""
