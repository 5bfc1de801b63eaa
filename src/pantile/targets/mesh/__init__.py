"""Grids of chiplets with distributed memories: their routes, and programs that pass tiles on."""
