"""The models written in JAX alone: parameters are dicts of arrays, made of a `state_dict` of the PyTorch model.

Each module has `from_torch(weights)`, which gives parameters and state (running statistics, or an empty dict), and
`apply(params, state, x, training=)`, which gives the result and the new state. Matrices are (inputs, outputs), images
have channels last, attention has heads after positions.
"""
