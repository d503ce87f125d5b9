"""The device's memory: cells that hold arrays, tensors as strided views of them, the random state, device indices."""
