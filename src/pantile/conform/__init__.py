"""Runs case files recorded from other programs against this one; see :mod:`pantile.conform.run`."""
