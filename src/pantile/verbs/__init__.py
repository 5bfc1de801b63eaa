"""What a user can ask for: the same verbs from Python and from the command line."""
