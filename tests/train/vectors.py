#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes vectors.hpp: what optimizers, schedules and norms give by their published formulas (TensorFlow 1.x's forms of them),
in double precision and NumPy alone.

    python3 tests/train/vectors.py > tests/train/vectors.hpp
"""
import numpy as np

STEPS, SHAPE = 6, (4, 3)
RATE = 0.05
rng = np.random.default_rng(20261122)
FIRST = rng.normal(size=SHAPE).round(3)
GRADIENTS = rng.normal(size=(STEPS, *SHAPE)).round(3)
GRADIENTS[2] *= 10  # a step that stands out
IDS = [[0, 2], [1, 1], [2, 0, 2], [3], [1, 2, 1], [0]]  # of the steps by rows: some come twice
SLICES = [rng.normal(size=(len(ids), SHAPE[1])).round(3) for ids in IDS]


# ---- one step each: v is changed, s holds the slots --------------------------------------------------------------------------
def gradient_descent(v, s, g, lr, t):
    v -= lr * g


def momentum(v, s, g, lr, t, factor=0.8, nesterov=False):
    a = s.setdefault("a", np.zeros_like(v))
    a[...] = factor * a + g
    v -= lr * (g + factor * a) if nesterov else lr * a


def adagrad(v, s, g, lr, t, initial=0.1):
    a = s.setdefault("a", np.full_like(v, initial))
    a += g * g
    v -= lr * g / np.sqrt(a)


def adadelta(v, s, g, lr, t, rho=0.9, epsilon=1e-3):
    a, d = (s.setdefault(name, np.zeros_like(v)) for name in "ad")
    a[...] = rho * a + (1 - rho) * g * g
    u = g * np.sqrt(d + epsilon) / np.sqrt(a + epsilon)
    v -= lr * u
    d[...] = rho * d + (1 - rho) * u * u


def rmsprop(v, s, g, lr, t, decay=0.8, factor=0.5, epsilon=1e-3, centered=False):
    ms = s.setdefault("ms", np.ones_like(v))
    mom, mg = (s.setdefault(name, np.zeros_like(v)) for name in ("mom", "mg"))
    ms += (1 - decay) * (g * g - ms)
    if centered:
        mg += (1 - decay) * (g - mg)
    mom[...] = factor * mom + lr * g / np.sqrt(ms - (mg * mg if centered else 0) + epsilon)
    v -= mom


def adam(v, s, g, lr, t, beta1=0.8, beta2=0.99, epsilon=1e-4, weight_decay=0.0):
    m, u = (s.setdefault(name, np.zeros_like(v)) for name in "mu")
    v -= lr * weight_decay * v
    m[...] = beta1 * m + (1 - beta1) * g
    u[...] = beta2 * u + (1 - beta2) * g * g
    v -= lr * np.sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (np.sqrt(u) + epsilon)


def ftrl(v, s, g, lr, t, power=-0.5, initial=0.1, l1=0.0, l2=0.0):
    n, z = s.setdefault("n", np.full_like(v, initial)), s.setdefault("z", np.zeros_like(v))
    new = n + g * g
    z += g - (new ** -power - n ** -power) / lr * v
    v[...] = np.where(np.abs(z) > l1, (l1 * np.sign(z) - z) / (new ** -power / lr + 2 * l2), 0)
    n[...] = new


def with_(rule, **fixed):
    return lambda *args: rule(*args, **fixed)


OPTIMIZERS = {
    "gradient_descent": gradient_descent,
    "momentum": momentum,
    "nesterov": with_(momentum, nesterov=True),
    "adagrad": adagrad,
    "adadelta": adadelta,
    "rmsprop": rmsprop,
    "centered_rmsprop": with_(rmsprop, centered=True),
    "adam": adam,
    "adamw": with_(adam, weight_decay=0.1),
    "ftrl": ftrl,
    "ftrl_regularized": with_(ftrl, power=-0.7, l1=0.6, l2=0.3),
}
EVERY_ROW = ("adam", "adamw")  # those that move rows without a gradient too, unless they are lazy


def dense(rule):
    """The variable after each step."""
    v, s = FIRST.copy(), {}
    for t, g in enumerate(GRADIENTS, 1):
        rule(v, s, g, RATE, t)
        yield v.copy()


def rows(rule, every):
    """The same by rows of a table: gradients of one row are added first, and other rows are left alone, slots too."""
    v, s, of_row = FIRST.copy(), {}, [{} for _ in FIRST]
    for t, (ids, slices) in enumerate(zip(IDS, SLICES), 1):
        g = np.zeros(SHAPE)
        np.add.at(g, ids, slices)
        if every:
            rule(v, s, g, RATE, t)
        else:
            for row in set(ids):
                rule(v[row], of_row[row], g[row], RATE, t)
        yield v.copy()


# ---- schedules: a rate of 0.5, at these steps --------------------------------------------------------------------------------
AT = [0, 1, 5, 9, 10, 11, 19, 20, 25, 30, 31, 69, 70, 71, 100]


def exponential(step, staircase=False):
    p = step / 10
    return 0.5 * 0.8 ** (np.floor(p) if staircase else p)


def natural_exp(step, staircase=False):
    p = step / 10
    return 0.5 * np.exp(-0.3 * (np.floor(p) if staircase else p))


def inverse_time(step, staircase=False):
    p = step / 10
    return 0.5 / (1 + 0.3 * (np.floor(p) if staircase else p))


def polynomial(step, end=0.0001, power=1.0, cycle=False):
    steps = 10.0
    if cycle:
        steps *= 1 if step == 0 else np.ceil(step / steps)
    else:
        step = min(step, steps)
    return (0.5 - end) * (1 - step / steps) ** power + end


def cosine(step, alpha=0.0):
    return 0.5 * ((1 - alpha) * 0.5 * (1 + np.cos(np.pi * min(step, 20) / 20)) + alpha)


def restarts(step, t_mul=2, m_mul=1.0, alpha=0.0):
    begin, length, n = 0, 10, 0
    while step >= begin + length:  # counted, where TensorFlow takes logarithms
        begin, length, n = begin + length, length * t_mul, n + 1
    return 0.5 * ((1 - alpha) * 0.5 * m_mul ** n * (1 + np.cos(np.pi * (step - begin) / length)) + alpha)


def piecewise(step):
    return 0.5 if step <= 10 else 0.25 if step <= 30 else 0.125


SCHEDULES = {
    "exponential": exponential,
    "exponential_staircase": with_(exponential, staircase=True),
    "natural_exp": natural_exp,
    "natural_exp_staircase": with_(natural_exp, staircase=True),
    "inverse_time": inverse_time,
    "inverse_time_staircase": with_(inverse_time, staircase=True),
    "polynomial": polynomial,
    "polynomial_root": with_(polynomial, end=0.1, power=0.5),
    "polynomial_cycle": with_(polynomial, end=0.01, power=2.0, cycle=True),
    "cosine": cosine,
    "cosine_alpha": with_(cosine, alpha=0.1),
    "restarts": restarts,
    "restarts_even": with_(restarts, t_mul=1, m_mul=0.5),
    "restarts_alpha": with_(restarts, t_mul=2, m_mul=0.8, alpha=0.1),
    "piecewise": piecewise,
}

# ---- clipping and means ------------------------------------------------------------------------------------------------------
NORM = np.sqrt(sum((g * g).sum() for g in GRADIENTS[:2]))


def clip_by_norm(x, norm, axis=None):
    length = np.sqrt((x * x).sum(axis=axis, keepdims=axis is not None))
    return x * norm / np.maximum(length, norm)


def moving_average(counted):
    """Of FIRST + GRADIENTS[k], one after the other; the variable begins with FIRST."""
    mean = FIRST.copy()
    for n, g in enumerate(GRADIENTS):
        decay = min(0.9, (1 + n) / (10 + n)) if counted else 0.9
        mean = decay * mean + (1 - decay) * (FIRST + g)
    return mean


def write(name, values):
    numbers = [repr(float(x)) for x in np.ravel(values)]
    lines = [", ".join(numbers[i:i + 6]) for i in range(0, len(numbers), 6)]
    print(f"inline const std::vector<double> {name}{{\n    " + ",\n    ".join(lines) + "};")


def main():
    print("// SPDX-License-Identifier: BSD-3-Clause\n#pragma once\n\n// Written by vectors.py, which says what this is.\n"
          "// clang-format off\n\n#include <vector>\n\nnamespace vectors {\n")
    write("first", FIRST)
    write("gradients", GRADIENTS)
    print("inline const std::vector<std::vector<int>> ids{" +
          ", ".join("{" + ", ".join(map(str, ids)) + "}" for ids in IDS) + "};")
    write("slices", np.concatenate(SLICES))
    for name, rule in OPTIMIZERS.items():
        write(name, list(dense(rule)))
        write(name + "_rows", list(rows(rule, name in EVERY_ROW)))
        if name in EVERY_ROW:
            write("lazy_" + name + "_rows", list(rows(rule, False)))
    print("inline const std::vector<int> at{" + ", ".join(map(str, AT)) + "};")
    for name, schedule in SCHEDULES.items():
        write(name, [schedule(step) for step in AT])
    write("global_norm", NORM)
    write("clipped_by_norm", clip_by_norm(GRADIENTS[0], 1.5))
    write("clipped_rows", clip_by_norm(GRADIENTS[0], 1.5, axis=1))
    write("clipped_by_global_norm", GRADIENTS[:2] * 1.5 / NORM)
    write("moving_average", moving_average(False))
    write("moving_average_counted", moving_average(True))
    print("\n} // namespace vectors")


if __name__ == "__main__":
    main()
