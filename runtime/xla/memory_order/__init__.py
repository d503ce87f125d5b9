"""Computes a program in the memory order of its arguments, instead of transposing them to the order of their axes.

A channels-last image is an array [N, H, W, C]; its lowering, written for [N, C, H, W], transposes it before, and the
result after. XLA's CPU backend makes a copy for each, and computes what is between in the slower order. Here
transpositions are put off, and operations take arrays as they are in memory (`evaluation.py`), each by a rule that says
where its axes are (`rules.py`). Programs that multiply matrices are left as they are.
"""
