"""Case files recorded by running ONNXim; run under its own reading of the rules, ``faithful``."""
