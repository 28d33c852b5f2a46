"""Compares the service's batches with features that this file computes, and writes a network for the engine. Compares
training from lists of inputs with training from bits.

    python3 check.py PROGRAM POSITIONS.bf TRIPLETS.pqr NET EVALUATIONS

PROGRAM is destrier-trainer. EVALUATIONS gets the evaluation of each position by NET, in whole numbers, a line each.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial

import numpy as np

from network import QA, QB, screlu
from serve import Batches
from train import backend, by_target, row_sums, start

RECORD = np.dtype([("occ", "<u8"), ("pieces", "u1", 16), ("score", "<i2"), ("result", "u1"), ("rest", "u1", 5)])

PIECE, FILE, RELATIVE, PAIRS = 768, 96, 2250, 2160
SET = "piece+king-relative+diagonal-pairs+file"

# Differences of losses and of weights that rounding explains.
LOSS_ERROR, WEIGHT_ERROR = 1e-6, 1e-4


def views(record):
    """Returns the pieces of a record as (code, square), seen by the side to move and by the opponent."""
    own, place = [], 0
    for square in range(64):
        if int(record["occ"]) >> square & 1:
            nibble = int(record["pieces"][place // 2]) >> 4 * (place % 2) & 15
            own.append((6 * (nibble >> 3) + (nibble & 7), square))
            place += 1
    return own, [((code + 6) % 12, square ^ 56) for code, square in own]


def piece(view):
    return {64 * code + square for code, square in view}


def file(view):
    return {8 * code + square % 8 for code, square in view}


def king_relative(view):
    king = next(square for code, square in view if code == 5)
    found = set()
    for code, square in view:
        if code % 6 != 5:
            files, ranks = king % 8 - square % 8 + 7, king // 8 - square // 8 + 7
            found.add(225 * (code - code // 6) + 15 * files + ranks)
    return found


def diagonal_pairs(view):
    found = set()
    for line in range(15):
        along = sorted((square % 8, code) for code, square in view if square % 8 + square // 8 == line)
        for (_, one), (_, two) in zip(along, along[1:]):
            found.add(144 * line + 12 * one + two)
    return found


def features(view):
    blocks = [(piece, PIECE), (king_relative, RELATIVE), (diagonal_pairs, PAIRS), (file, FILE)]
    found, first = [], 0
    for block, size in blocks:
        found += sorted(first + feature for feature in block(view))
        first += size
    return tuple(found)


def rows_of(records):
    return [(int(record["score"]), int(record["result"]), int(record["occ"]).bit_count(),
             *map(features, views(record))) for record in records]


def rows_by_service(program, path, **options):
    rows = []
    with Batches([path], SET, batch=128, program=program, **options) as batches:
        for batch in batches:
            dense = batch.dense(np.uint8)
            for place in range(len(batch)):
                lists = [tuple(batch.active(place, side).tolist()) for side in (0, 1)]
                for side in (0, 1):
                    assert tuple(np.flatnonzero(dense[place, side]).tolist()) == lists[side], "dense() and active()"
                target = () if batch.scores is None else (int(batch.scores[place]), int(2 * batch.results[place]))
                rows.append((*target, int(batch.pieces[place]), *lists))
    return rows


def divided(a, b):
    """Divides and rounds towards zero, as the engine does."""
    return abs(a) // b * (1 if a >= 0 else -1)


def evaluate(row, weights):
    feature_weights, feature_biases, output, output_biases = weights
    bucket = (row[2] - 2) // 4
    sides = [feature_weights[list(row[side])].sum(0) + feature_biases for side in (3, 4)]
    active = np.clip(np.concatenate(sides), 0, QA) ** 2
    total = divided(int(active @ output[bucket]), QA) + int(output_biases[bucket])
    return divided(400 * total, QA * QB)


def compare_export(program, data, arrays):
    """Compares the network of `export --from-npz` with the one that this program wrote."""
    with tempfile.TemporaryDirectory() as folder:
        weights, net = (os.path.join(folder, name) for name in ("weights.npz", "net.nnue"))
        for part in (np.asarray, lambda array: np.asfortranarray(array, np.float32)):
            np.savez(weights, **{name: part(array) for name, array in arrays.items()})
            subprocess.run([program, "export", "--from-npz", weights, "--features", SET, "--out", net], check=True,
                           stdout=subprocess.DEVNULL)
            with open(net, "rb") as file:
                if file.read() != data:
                    sys.exit("check.py: the exported network differs from network.py's")


def write_network(program, rows, path, told):
    random = np.random.default_rng(7)
    inputs, hidden, buckets = PIECE + RELATIVE + PAIRS + FILE, 32, 8
    shapes = [(inputs, hidden), (hidden,), (buckets, 2 * hidden), (buckets,)]
    weights = [random.integers(-60, 61, shape) for shape in shapes]
    units = [QA, QA, QB, QA * QB]
    parts = [part / unit for part, unit in zip(weights, units)]
    data = screlu(SET, *parts)
    with open(path, "wb") as out:
        out.write(data)
    compare_export(program, data, dict(zip(("features", "biases", "output", "output_biases"), parts)))
    with open(told, "w") as out:
        out.writelines(f"{evaluate(row, weights)}\n" for row in rows)


def threes(rows):
    return list(zip(rows[0::3], rows[1::3], rows[2::3], strict=True))


def compare(program, path, rows, **fixed):
    """Compares all layouts and ways of the service with the rows of a file, single positions or triplets."""
    orders = []
    for options in ({}, {"sparse": True}, {"stream": True}, {"stream": True, "sparse": True, "threads": 2}):
        found = rows_by_service(program, path, **options, **fixed)
        found = threes(found) if fixed else found
        missing = Counter(rows) - Counter(found)
        if missing or len(found) != len(rows):
            sys.exit(f"check.py: {path} {options}: {len(found)} of {len(rows)}, {len(missing)} differ, "
                     f"such as {next(iter(missing), None)}")
        orders.append(found)
    if any(order != orders[0] for order in orders):
        sys.exit(f"check.py: {path}: the order depends on the layout")


def compare_row_sums():
    """Compares sums of lists with a matrix of zeros and ones; lists are empty at both ends and within."""
    random = np.random.default_rng(3)
    for count in (1, 9, 70_000):
        lengths = random.integers(0, 3, count)
        lengths[[0, -1]] = 0
        starts = np.concatenate([[0], np.cumsum(lengths)])
        lists = random.integers(0, 5, starts[-1])
        ones = np.zeros((count, 5))
        np.add.at(ones, (np.repeat(np.arange(count), lengths), lists), 1)
        rows = random.normal(size=(5, 3))
        if not np.allclose(row_sums(rows, lists, starts), ones @ rows):
            sys.exit(f"check.py: sums of {count} lists of rows differ from those by a matrix")


def trained(program, path, name, sparse):
    """Trains on some batches; returns the losses and the weights."""
    trainer, losses = None, []
    with Batches([path], SET, batch=128, sparse=sparse, loop=True, program=program) as batches:
        for _, batch in zip(range(20), batches):
            trainer = trainer or backend(name, start(batch.features, 32, 8, 5))
            bucket = (batch.pieces.astype(np.int64) - 2) // 4
            losses.append(trainer.train(batch, partial(by_target, 1, batch.results), bucket, 0.01))
    return losses, trainer.finished()


def compare_training(program, path):
    """Compares training from lists with training from bits, by each back end there is; returns their names."""
    compare_row_sums()
    names = [name for name in ("numpy", "torch") if importlib.util.find_spec(name)]
    for name in names:
        (dense_losses, dense), (losses, weights) = (trained(program, path, name, sparse) for sparse in (False, True))
        if not np.allclose(losses, dense_losses, rtol=0, atol=LOSS_ERROR):
            sys.exit(f"check.py: {name} has the losses {losses} from lists, {dense_losses} from bits")
        first = start(*dense["features"].shape, 8, 5)
        for part, expected in dense.items():
            error = np.abs(weights[part] - expected).max()
            moved = np.abs(expected - first[part]).max()
            if error > WEIGHT_ERROR or moved < 100 * WEIGHT_ERROR:
                sys.exit(f"check.py: {name}: `{part}` moved by up to {moved} from bits, and is {error} off from lists")
    return names


def main():
    program, path, triplets, net, told = sys.argv[1:]
    rows = rows_of(np.fromfile(path, RECORD))
    compare(program, path, rows)
    of_triplets = threes([row[2:] for row in rows_of(np.fromfile(triplets, RECORD))])
    compare(program, triplets, of_triplets, method="pqr")
    with Batches([path], batch=32, loop=True, program=program) as batches:
        if [batch.number for _, batch in zip(range(100), batches)] != list(range(1, 101)):
            sys.exit("check.py: batches are missing in a loop")
    write_network(program, rows, net, told)
    names = compare_training(program, path)
    print(f"{len(rows)} positions and {len(of_triplets)} triplets agree; lists train as bits do by {' and '.join(names)}")


if __name__ == "__main__":
    main()
