"""ONNXim-style systolic NPUs."""
