"""The tile language: how tiles move and wait, recorded from plain functions and lowered to tables."""
