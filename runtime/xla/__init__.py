"""XLA executables: stored in a folder for later processes, limited in memory, and reported while they are compiled."""
