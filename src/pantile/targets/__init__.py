"""One family of machines each: from a plan to a program, its exact timing, the meaning of its operations."""
