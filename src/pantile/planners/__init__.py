"""Who decides the cut; each planner explains its decisions."""
