"""The device's memory: cells that hold arrays, strided views of them, the random state, and device indices."""
