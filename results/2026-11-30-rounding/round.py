"""Rounds the second layer of a squared network of 512 x 8 units, sixteen king buckets and eight output buckets to what
positions ask for (GPTQ: Frantar et al. 2022): weight by weight, where the error of each is made good by those that follow.

    round.py OUT.nnue POSITIONS.bin,... NETWORK.nnue...    # the mean of the networks, with neurons matched; Bulletformat
"""

import hashlib
import os
import sys

import numpy as np

H, KINGS, BUCKETS, UNITS = 512, 16, 8, 8
KING = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 14, 14, 15, 15, 14, 14, 15, 15])
PARTS = (("<i2", KINGS * 768 * H), ("<i2", H), ("i1", BUCKETS * UNITS * 2 * H), ("<i4", BUCKETS * UNITS),
         ("<i2", BUCKETS * 32 * UNITS), ("<i4", BUCKETS * 32), ("<i2", BUCKETS * 32), ("<i4", BUCKETS))
RECORD = [("occ", "<u8"), ("men", "u1", 16), ("score", "<i2"), ("result", "u1"), ("king", "u1"), ("their", "u1"), ("x", "u1", 3)]


def read(path):
    data, at, parts = open(path, "rb").read(), 128, []
    for kind, count in PARTS:
        size = np.dtype(kind).itemsize * count
        parts.append(np.frombuffer(data[at:at + size], kind).astype(np.float64))
        at += size
    return data[:128], parts, data[at:]


def mean(networks):
    def columns(parts):
        x = parts[0].reshape(-1, H).astype(np.float32)
        x = x - x.mean(0)
        return x / np.linalg.norm(x, axis=0)

    first = columns(networks[0])
    for parts in networks[1:]:
        order = (first.T @ columns(parts)).argmax(1)
        assert len(set(order)) == H, "neurons do not match"
        parts[0] = parts[0].reshape(-1, H)[:, order].reshape(-1)
        parts[1] = parts[1][order]
        parts[2] = parts[2].reshape(-1, 2, H)[:, :, order].reshape(-1)
    return [sum(parts) / len(networks) for parts in zip(*networks)]


def sample(path, count, random):
    records = np.memmap(path, RECORD, "r", shape=(os.path.getsize(path) // 32,))
    places = np.sort(random.choice(len(records) // 64 - 1, count // 64, replace=False)) * 64
    return np.concatenate([records[at:at + 64] for at in places])


def features(records):
    def bucket(king):
        file, mirror = king & 7, np.where((king & 7) > 3, 7, 0)
        return KING[(king >> 3) * 4 + np.where(file > 3, 7 - file, file)], mirror

    (own, turn), (their, mirror) = bucket(records["king"].astype(int)), bucket(records["their"].astype(int))
    us, them = np.full((2, len(records), 32), KINGS * 768, np.int32)
    occ, count = records["occ"].copy(), np.zeros(len(records), int)
    for place in range(32):
        live = occ != 0
        low = occ & (~occ + np.uint64(1))
        square = np.zeros(len(records), int)
        square[live] = np.log2(low[live].astype(np.float64)).astype(int)
        man = (records["men"][:, place // 2] >> (4 * (place & 1))) & 15
        enemy, kind = (man >> 3).astype(int), (man & 7).astype(int)
        us[live, place] = (own * 768 + enemy * 384 + kind * 64 + (square ^ turn))[live]
        them[live, place] = (their * 768 + (1 - enemy) * 384 + kind * 64 + (square ^ 56 ^ mirror))[live]
        count += live
        occ &= ~low
    return us, them, np.minimum((count - 2) // 4, BUCKETS - 1)


def activations(parts, sides, rounds):
    rows = np.vstack([(parts[0] / 255).reshape(-1, H), np.zeros((1, H))]).astype(np.float32)
    bias = (parts[1] / 255).astype(np.float32)
    sums = np.concatenate([
        np.concatenate([rows[side[at:at + 4096]].sum(1) + bias for at in range(0, len(side), 4096)]) for side in sides
    ], 1)
    squares = np.clip(sums, 0, 1)**2
    return np.floor(squares * 127 + 0.5) / np.float32(127) if rounds else squares


def rounded(weights, moments, damp=0.03):
    moments = moments + np.eye(len(moments)) * damp * np.mean(np.diag(moments))
    order = np.argsort(-np.diag(moments))
    rest = weights[:, order].copy()
    upper = np.linalg.cholesky(np.linalg.inv(moments[np.ix_(order, order)])).T
    found = np.zeros_like(rest)
    for at in range(rest.shape[1]):
        found[:, at] = np.clip(np.floor(rest[:, at] * 64 + 0.5), -128, 127) / 64
        rest[:, at + 1:] -= np.outer((rest[:, at] - found[:, at]) / upper[at, at], upper[at, at + 1:])
    return found[:, np.argsort(order)]


def main():
    out, positions, paths = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
    networks = [read(path) for path in paths]
    head, _, padding = networks[0]
    exact = mean([parts for _, parts, _ in networks])
    whole = [np.rint(part) for part in exact]
    random = np.random.default_rng(5)
    us, them, bucket = features(np.concatenate([sample(path, 240_000 // len(positions), random) for path in positions]))
    wanted, given = activations(exact, (us, them), False), activations(whole, (us, them), True)
    weights, biases = (exact[2] / 64).reshape(BUCKETS, UNITS, 2 * H), (exact[3] / (127 * 64)).reshape(BUCKETS, UNITS)
    new, shift = np.empty_like(weights), np.empty_like(biases)
    for k in range(BUCKETS):
        a = given[bucket == k].astype(np.float64)
        sums = wanted[bucket == k].astype(np.float64) @ weights[k].T + biases[k]
        middle = a.mean(0)
        moments = (a - middle).T @ (a - middle) + 0.02 * len(a) * np.outer(middle, middle)
        new[k] = rounded(weights[k], moments)
        shift[k] = (sums - a @ new[k].T).mean(0)
    whole[2], whole[3] = (new * 64).reshape(-1), (shift * 127 * 64).reshape(-1)
    body = b"".join(np.rint(part).astype(kind).tobytes() for part, (kind, _) in zip(whole, PARTS)) + padding
    open(out, "wb").write(head[:64] + hashlib.sha256(body).digest() + head[96:] + body)


main()
