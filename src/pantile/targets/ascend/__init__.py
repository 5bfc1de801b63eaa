"""Ascend AI cores, cube side: what their instructions touch and how their pipes wait for one another."""
