"""Executables: kept in a folder for later processes, counted in memory, and announced while they are compiled."""
