"""Argument parsing and rendering, nothing else."""
