"""Calls of overloads that draw random numbers."""

from __future__ import annotations

import torch

from .call import Maker, call, r

CPU = torch.device("cpu")
FLOAT = {"generator": None, "dtype": torch.float32, "device": CPU}
LONG = {"generator": None, "dtype": torch.int64, "device": CPU}

DRAWS: dict[str, Maker] = {
    "bernoulli_.Tensor": lambda: call(r(400), torch.full((400,), 0.3)),
    "random_": lambda: call(r(400)),
    "random_.to": lambda: call(r(400), 9),
    "random_.from": lambda: call(r(400), 4, 9),
    "bernoulli.p": lambda: call(r(400), 0.3),
    "normal_functional": lambda: call(r(400), 2.0, 3.0),
    "normal.float_Tensor": lambda: call(2.0, torch.full((400,), 3.0)),
    "poisson": lambda: call(torch.full((400,), 3.0)),
    "binomial": lambda: call(torch.full((400,), 9.0), torch.full((400,), 0.3)),
    "_standard_gamma": lambda: call(torch.full((400,), 2.0)),
    "_sample_dirichlet": lambda: call(torch.full((100, 4), 2.0)),
    "rand.generator": lambda: call([400], **FLOAT),
    "rand_like.generator": lambda: call(r(400), generator=None),
    "randn.generator": lambda: call([400], **FLOAT),
    "randn_like.generator": lambda: call(r(400), generator=None),
    "randint.low_generator": lambda: call(4, 9, [400], **LONG),
    "randint.generator": lambda: call(9, [400], **LONG),
    "randint_like.generator": lambda: call(r(400), 9, generator=None),
    "randint_like.Tensor": lambda: call(r(400), torch.tensor(9)),
    "randint_like.Tensor_generator": lambda: call(r(400), torch.tensor(9), generator=None),
    "randint_like.low_generator_dtype": lambda: call(r(400), 4, 9, generator=None),
    "randperm": lambda: call(400, dtype=torch.int64, device=CPU),
    "randperm.generator": lambda: call(400, **LONG),
    "native_dropout": lambda: call(torch.ones(400), 0.3, True),
}
