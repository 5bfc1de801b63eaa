"""Grids of chiplets with distributed memories: their routes, and programs that hand tiles on to neighbours."""
