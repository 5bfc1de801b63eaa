"""Products on grids of chiplets: Cannon's algorithm, SUMMA, and no exchange at all."""
