"""How an iteration space is cut, in which order its tiles are taken, and what a planner decided."""
