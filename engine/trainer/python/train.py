"""Trains a small network on batches of `destrier-trainer data serve`, and writes it as a network of Destrier.

    python3 train.py shuffled.bf --features piece+file --hidden 64 --batches 2000 --out net.nnue
    python3 train.py shuffled.bf --features piece+top-pairs:256 --pairs gain-256.txt --out net.nnue
    python3 train.py games.pqr --method pqr --out net.nnue

It uses PyTorch if it is installed, on a GPU if there is one, else NumPy. It is an example to start from: one learning
rate that falls in a cosine, and a blend of score and result, or the order of positions. Sets of many inputs, such as
`king-piece`, are trained from lists of the inputs that are on, others from bits.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from functools import partial

import numpy as np

from serve import Batches

# Bound of weights and biases, so that they fit 16 bits and the output's products 16 bits in vectors.
CLIP = 1.98

# Inputs above which batches are lists: a batch of 16,384 positions with more of them takes over 1 GB as floats.
DENSE_INPUTS = 8192

# Rows that are added up at a time, so that their copies stay small.
ROWS = 1 << 15


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="positions in bulletformat, shuffled, or files of `data triplets`")
    parser.add_argument("--method", default="eval", choices=("eval", "pqr"))
    parser.add_argument("--out", required=True, help="network file to write")
    parser.add_argument("--features", default="piece", help="feature set, such as piece+file")
    parser.add_argument("--pairs", metavar="FILE", help="list of the pairs of a block top-pairs:K, by `data pairs`")
    parser.add_argument("--sparse", action=argparse.BooleanOptionalAction,
                        help=f"train from lists of the inputs that are on; by default above {DENSE_INPUTS} inputs")
    parser.add_argument("--hidden", type=int, default=64, help="neurons, a multiple of 32")
    parser.add_argument("--buckets", type=int, default=1, choices=(1, 8), help="output buckets")
    parser.add_argument("--batch", type=int, default=16384, help="positions or triplets of a batch")
    parser.add_argument("--batches", type=int, default=2000, help="batches to train on")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--blend", type=float, default=0.3, help="share of the result in the target")
    parser.add_argument("--equality", type=float, default=1, help="weight of P against Q in the method pqr")
    parser.add_argument("--scale", type=float, default=400, help="centipawns at a win probability of 0.73")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="threads of the service")
    parser.add_argument("--backend", choices=("auto", "torch", "numpy"), default="auto")
    parser.add_argument("--program", default="destrier-trainer", help="the trainer")
    return parser.parse_args()


def start(inputs, hidden, buckets, seed):
    """Returns random first weights by name."""
    random = np.random.default_rng(seed)
    uniform = lambda bound, *shape: random.uniform(-bound, bound, shape).astype(np.float32)
    return {
        "features": uniform(1 / math.sqrt(32), inputs, hidden),
        "biases": uniform(1 / math.sqrt(32), hidden),
        "output": uniform(1 / math.sqrt(2 * hidden), buckets, 2 * hidden),
        "output_biases": np.zeros(buckets, np.float32),
    }


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_target(gain, target, outputs):
    """Returns the loss of the method eval, and its slope for each output. `gain` is the factor of outputs in the sigmoid."""
    q = sigmoid(gain * outputs)
    return np.mean((q - target) ** 2), 2 / len(outputs) * gain * (q - target) * q * (1 - q)


def by_order(gain, equality, outputs):
    """Returns the loss of the method pqr in win probability, and its slope for each output."""
    win = sigmoid(gain * outputs)
    p, q, r = (2 * win - 1).reshape(-1, 3).T
    loss = np.log1p(np.exp(q - r)) + equality * (np.log1p(np.exp(p + q)) + np.log1p(np.exp(-p - q)))
    pull, turn = sigmoid(q - r), equality * np.tanh((p + q) / 2)
    slopes = np.stack([turn, pull + turn, -pull], axis=1).ravel()
    return np.mean(loss), slopes * 2 * gain * win * (1 - win) / len(loss)


def row_sums(rows, lists, starts):
    """Returns the sum of the rows of each list, zeros for an empty one.

    List `i` is `lists[starts[i] : starts[i + 1]]`.
    """
    sums = np.zeros((len(starts) - 1, rows.shape[1]), rows.dtype)
    full = np.flatnonzero(np.diff(starts))
    for some in np.array_split(full, -(-len(lists) // ROWS) or 1):
        if len(some):
            first, end = starts[some[0]], starts[some[-1] + 1]
            sums[some] = np.add.reduceat(rows[lists[first:end]], starts[some] - first)
    return sums


class DenseInputs:
    """Inputs of a batch as zeros and ones."""

    def __init__(self, batch):
        self.x = batch.dense().reshape(2 * len(batch), -1)

    def sums(self, weights):
        """Returns the sums of the weights of the inputs that are on, `[2 * positions, neurons]`."""
        return self.x @ weights

    def slopes(self, slopes):
        """Returns the slopes of the weights, given those of the sums."""
        return self.x.T @ slopes


class SparseInputs:
    """Inputs of a batch as lists. The methods are those of `DenseInputs`."""

    def __init__(self, batch):
        self.lists, self.starts = (part.astype(np.int64) for part in (batch.lists, batch.starts))
        self.features = batch.features

    def sums(self, weights):
        return row_sums(weights, self.lists, self.starts)

    def slopes(self, slopes):
        # The views in which each input is on are lists too.
        views = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.argsort(self.lists, kind="stable")
        starts = np.searchsorted(self.lists[order], np.arange(self.features + 1))
        return row_sums(slopes, views[order], starts)


class NumPyTrainer:
    """Adam and the gradients of the network by hand."""

    def __init__(self, weights):
        self.weights = weights
        self.moments = {name: (np.zeros_like(part), np.zeros_like(part)) for name, part in weights.items()}
        self.step = 0

    def train(self, batch, judge, bucket, rate):
        """Makes one step; returns the loss. `judge` gives the loss and the slopes of outputs."""
        w, n = self.weights, len(batch)
        inputs = DenseInputs(batch) if batch.lists is None else SparseInputs(batch)
        sums = inputs.sums(w["features"]).reshape(n, 2, -1) + w["biases"]
        clipped = np.clip(sums, 0, 1)
        active = (clipped * clipped).reshape(n, -1)
        chosen = w["output"][bucket]
        loss, slope = judge((active * chosen).sum(1) + w["output_biases"][bucket])
        output = np.zeros_like(w["output"])
        np.add.at(output, bucket, active * slope[:, None])
        biases = np.bincount(bucket, slope, len(w["output_biases"])).astype(np.float32)
        inner = (slope[:, None] * chosen).reshape(sums.shape) * 2 * clipped * ((sums > 0) & (sums < 1))
        inner = inner.reshape(2 * n, -1)
        self._adam({"features": inputs.slopes(inner), "biases": inner.sum(0), "output": output,
                    "output_biases": biases}, rate)
        return float(loss)

    def _adam(self, slopes, rate):
        self.step += 1
        rate *= math.sqrt(1 - 0.999**self.step) / (1 - 0.9**self.step)
        for name, slope in slopes.items():
            first, second = self.moments[name]
            first += 0.1 * (slope - first)
            second += 0.001 * (slope * slope - second)
            part = self.weights[name]
            part -= rate * first / (np.sqrt(second) + 1e-8)
            np.clip(part, -CLIP, CLIP, out=part)

    def finished(self):
        return self.weights


class TorchTrainer:
    """The same by PyTorch. Bits go to the device and are spread there; lists become bags of embeddings."""

    def __init__(self, weights):
        import torch

        self.torch = torch
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        tensor = lambda part: torch.nn.Parameter(torch.from_numpy(part).to(self.device))
        self.weights = {name: tensor(part) for name, part in weights.items()}
        self.adam = torch.optim.Adam(self.weights.values())

    def sums(self, batch):
        """Returns the sums of the first layer without its biases, `[positions, 2, neurons]`."""
        weights = self.weights["features"]
        if batch.lists is None:
            return self.dense(batch) @ weights
        lists, starts = (self.torch.from_numpy(part.astype(np.int64)).to(self.device) for part in (batch.lists, batch.starts))
        bags = self.torch.nn.functional.embedding_bag(lists, weights, starts, mode="sum", include_last_offset=True)
        return bags.reshape(len(batch), 2, -1)

    def dense(self, batch):
        torch = self.torch
        octets = torch.from_numpy(batch.bits.view(np.uint8)).to(self.device)
        spread = octets.unsqueeze(-1) >> torch.arange(8, dtype=torch.uint8, device=self.device) & 1
        return spread.flatten(2)[:, :, : batch.features].float()

    def train(self, batch, judge, bucket, rate):
        """Makes one step; returns the loss. `judge` gives the loss and the slopes of outputs."""
        torch, w = self.torch, self.weights
        bucket = torch.from_numpy(bucket).to(self.device)
        sums = self.sums(batch) + w["biases"]
        active = sums.clamp(0, 1).square().flatten(1)
        out = (active * w["output"][bucket]).sum(1) + w["output_biases"][bucket]
        loss, slope = judge(out.detach().cpu().numpy())
        self.adam.param_groups[0]["lr"] = rate
        self.adam.zero_grad()
        out.backward(torch.from_numpy(slope.astype(np.float32)).to(self.device))
        self.adam.step()
        with torch.no_grad():
            for part in w.values():
                part.clamp_(-CLIP, CLIP)
        return float(loss)

    def finished(self):
        return {name: part.detach().cpu().numpy() for name, part in self.weights.items()}


def backend(name, weights):
    if name != "numpy":
        try:
            return TorchTrainer(weights)
        except ImportError:
            if name == "torch":
                sys.exit("train.py: PyTorch is not installed; install it, or give --backend numpy")
    return NumPyTrainer(weights)


def input_count(args):
    """Returns the number of inputs of the feature set, which the trainer knows."""
    words = [args.program, "features", args.features] + (["--pairs", args.pairs] if args.pairs else [])
    told = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    found = re.match(r".*: (\d+) features$", told.stdout, re.MULTILINE)
    if told.returncode or not found:
        sys.exit("train.py: --features and --pairs are no feature set")
    return int(found[1])


def main():
    args = arguments()
    trainer = None
    # The output of 1 stands for 400 centipawns in a file.
    gain = 400 / args.scale
    is_sparse = input_count(args) > DENSE_INPUTS if args.sparse is None else args.sparse
    with Batches(args.files, args.features, args.batch, sparse=is_sparse, loop=True, seed=args.seed, threads=args.threads,
                 pairs=args.pairs, method=args.method, program=args.program) as batches:
        mean = None
        for step, batch in zip(range(args.batches), batches):
            if trainer is None:
                trainer = backend(args.backend, start(batch.features, args.hidden, args.buckets, args.seed))
            judge = partial(by_order, gain, args.equality)
            if args.method == "eval":
                wins = sigmoid(batch.scores.astype(np.float32) / args.scale)
                target = ((1 - args.blend) * wins + args.blend * batch.results).astype(np.float32)
                judge = partial(by_target, gain, target)
            bucket = (batch.pieces.astype(np.int64) - 2) * args.buckets // 32
            rate = args.rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / args.batches)))
            loss = trainer.train(batch, judge, bucket, rate)
            mean = loss if mean is None else mean + 0.02 * (loss - mean)
            if (step + 1) % max(1, args.batches // 10) == 0:
                print(f"batch {step + 1}: loss {mean:.6f}", flush=True)
    if trainer is None:
        sys.exit("train.py: no batch to train on")
    with tempfile.TemporaryDirectory() as folder:
        arrays = os.path.join(folder, "weights.npz")
        np.savez(arrays, **trainer.finished())
        words = [args.program, "export", "--from-npz", arrays, "--features", args.features, "--out", args.out]
        words += ["--pairs", args.pairs] if args.pairs else []
        if subprocess.run(words).returncode:
            sys.exit("train.py: the network was not exported")
    form = "lists" if is_sparse else "bits"
    print(f"{args.out}: {args.features}, {args.hidden} neurons, by {type(trainer).__name__} from {form}")


if __name__ == "__main__":
    main()
