"""What every unit runs: operations, threads, counters, in pieces that repeat."""
