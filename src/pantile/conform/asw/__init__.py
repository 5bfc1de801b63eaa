"""Recorded cases of the ASW_Basic theory."""
