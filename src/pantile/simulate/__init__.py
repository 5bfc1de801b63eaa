"""When everything of a program happens, and what its bytes become: event engine and functional execution."""
