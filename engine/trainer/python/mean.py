"""Writes the weighted mean of networks of one shape, which began with the same weights: it is often stronger than each of them.

    python3 mean.py before.nnue:1 after.nnue:3 --out mean.nnue

The weights of the files are rounded, and so are their means. For networks of the features `piece` with SCReLU.
"""

import argparse
import sys

import numpy as np

from network import ARRAYS, read_screlu, screlu, write


def part(word):
    """Returns the file and the weight of a word such as `net.nnue:3`."""
    file, _, weight = word.rpartition(":")
    if not file or not float(weight) > 0:
        raise ValueError
    return file, float(weight)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="+", type=part, metavar="NET:WEIGHT", help="network files with weights above 0")
    parser.add_argument("--out", required=True, help="network file to write")
    args = parser.parse_args()
    total = sum(weight for _, weight in args.parts)
    means, first = None, None
    try:
        for file, weight in args.parts:
            arrays, mirrored = read_screlu(file)
            shape = arrays["features"].shape, arrays["output"].shape, mirrored
            if first and shape != first:
                raise ValueError(f"{file}: another shape than {args.parts[0][0]}; give networks that began with the same weights")
            scaled = {name: np.float32(weight / total) * arrays[name] for name in ARRAYS}
            means = {name: means[name] + scaled[name] for name in ARRAYS} if means else scaled
            first = shape
        write(args.out, screlu("piece", *(means[name] for name in ARRAYS), mirrored=first[2]))
    except (OSError, ValueError) as error:
        sys.exit(f"mean.py: {error}")
    print(args.out)


if __name__ == "__main__":
    main()
