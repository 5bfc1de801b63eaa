"""ONNXim's mappings: explicit lines, the table of a network, and the automatic mappers."""
