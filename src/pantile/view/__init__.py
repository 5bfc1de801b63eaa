"""What people look at: the page, the trace file, and files written whole."""
