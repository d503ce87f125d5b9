"""Large programs as sequences of small ones, which compile in a fraction of the time."""
