"""Convolutions: the three maps between images, weights and outputs, and how each is computed on the CPU."""
