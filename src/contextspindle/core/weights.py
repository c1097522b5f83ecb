"""What each sign of a candidate is worth.  Written by a script: do not edit.

``benchmarks/train_ranking.py`` learned it from recorded sessions, of which nothing else
is here: 16 sessions cut at a line, 235 facts that the work after it needed.
"""

BASE = -6.530
FLOOR = 0.0
EDGE = 1.6
SIGNS: dict[str, float] = {
    "age": -0.076,
    "asked": 0.648,
    "asks": 0.086,
    "bold": 0.136,
    "bytes": 1.292,
    "called": -0.285,
    "code": 0.448,
    "decided": 4.577,
    "density": -0.205,
    "digit": 0.440,
    "failure": -0.009,
    "file": 0.482,
    "first": 0.046,
    "last": -0.054,
    "leads on": -0.381,
    "names": 0.759,
    "names used later": 0.476,
    "near": 0.493,
    "new names": -0.206,
    "numbered": -0.729,
    "path": -0.176,
    "peak": 0.052,
    "place": 0.578,
    "plan": 0.646,
    "rare tool": 0.297,
    "report": -0.791,
    "reported": 0.381,
    "rule": 2.753,
    "running": 1.504,
    "said terms": 0.054,
    "salience": 1.290,
    "share of names": -2.440,
    "shown": 0.145,
    "siblings": -0.289,
    "state": 1.823,
    "step": 1.172,
    "step done": 0.482,
    "summary": 1.418,
    "terms": -1.877,
    "written": -0.151,
}
WORTH: dict[str, float] = {
    "asked": 4.0,
    "called": 0.125,
    "decided": 2.0,
    "failure": 2.0,
    "file": 8.0,
    "plan": 1.0,
    "report": 0.5,
    "rule": 8.0,
    "running": 2.0,
    "shown": 0.25,
    "state": 2.0,
    "step": 8.0,
    "step done": 0.5,
    "summary": 1.0,
    "written": 0.5,
}
