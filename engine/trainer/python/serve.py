"""Batches of `destrier-trainer data serve` as NumPy arrays.

    with Batches(["shuffled.bf"], features="piece+file", loop=True) as batches:
        for batch in batches:
            x = batch.dense()        # float32 [positions, 2, features], the side to move first
            y = batch.scores         # float32 [positions], centipawns

With `method="pqr"` and a file of `data triplets`, a batch has no scores and results: positions `3 t`, `3 t + 1` and `3 t + 2` are P, Q
and R of triplet `t`.

The layout of the bytes is described in `engine/trainer/src/serve/mod.rs`.
"""

import mmap
import os
import struct
import subprocess

import numpy as np

HEADER = 64
MAGIC = b"DTRBATCH"
READY = b"\x40"


class ServiceError(Exception):
    """A service that failed, or that speaks another version."""


class Batch:
    """One batch. Its arrays are copies, and stay valid."""

    def __init__(self, shape, number, positions, payload):
        n = shape.batch
        self.features = shape.features
        self.number = number
        self.scores = self.results = None
        at = 0
        if not shape.triplets:
            self.scores = np.frombuffer(payload, "<f4", positions, 0).copy()
            self.results = np.frombuffer(payload, "<f4", positions, 4 * n).copy()
            at = 8 * n
        self.pieces = np.frombuffer(payload, "u1", positions, at).copy()
        at = (at + n + 7) // 8 * 8
        self.bits = self.starts = self.lists = None
        if shape.sparse:
            self.starts = np.frombuffer(payload, "<u4", 2 * positions + 1, at).copy()
            self.lists = np.frombuffer(payload, "<u2", int(self.starts[-1]), at + 4 * (2 * n + 1)).copy()
        else:
            count = positions * 2 * shape.words
            self.bits = np.frombuffer(payload, "<u8", count, at).copy().reshape(positions, 2, shape.words)

    def __len__(self):
        return len(self.pieces)

    def dense(self, dtype=np.float32):
        """Returns the inputs as zeros and ones, `[positions, 2, features]`."""
        if self.bits is not None:
            flat = np.unpackbits(self.bits.view("u1"), axis=2, bitorder="little")
            return flat[:, :, : self.features].astype(dtype)
        x = np.zeros((2 * len(self), self.features), dtype)
        rows = np.repeat(np.arange(2 * len(self)), np.diff(self.starts.astype(np.int64)))
        x[rows, self.lists] = 1
        return x.reshape(len(self), 2, self.features)

    def active(self, position, side):
        """Returns the sorted inputs that are on, of the side to move (0) or the opponent (1)."""
        if self.bits is not None:
            return np.flatnonzero(np.unpackbits(self.bits[position, side].view("u1"), bitorder="little"))
        view = 2 * position + side
        return np.sort(self.lists[self.starts[view] : self.starts[view + 1]].astype(np.int64))


class Shape:
    """Sizes of the batches, from the header."""

    def __init__(self, header):
        if header[:8] != MAGIC:
            raise ServiceError("no batches: the service ended before its first batch, or is another program")
        version, layout, method, self.batch, self.features, self.words, _ = struct.unpack_from("<IHH4I", header, 8)
        if version != 1 or layout > 1 or method > 1:
            raise ServiceError(f"batches of version {version}, layout {layout}, method {method}; "
                               "use the serve.py of the same version")
        self.sparse = layout == 1
        self.triplets = method == 1
        (self.slot,) = struct.unpack_from("<Q", header, 32)


class Batches:
    """Iterator over the batches of a service, which is started by it and ends with it.

    With `stream`, batches come by a pipe instead of shared memory.
    """

    def __init__(self, files, features="piece", batch=16384, sparse=False, loop=False, seed=1, threads=1,
                 pairs=None, stream=False, method="eval", program="destrier-trainer"):
        self.name = f"batches-{os.getpid()}-{id(self) & 0xFFFFFF:x}"
        words = [program, "data", "serve", "--features", features, "--batch", str(batch), "--seed", str(seed)]
        words += ["--threads", str(threads), "--method", method]
        words += ["--stdout"] if stream else ["--shm", self.name]
        words += ["--sparse"] if sparse else []
        words += ["--loop"] if loop else []
        words += ["--pairs", os.fspath(pairs)] if pairs else []
        words += ["--"] + [os.fspath(file) for file in files]
        self.stream = stream
        self.memory = None
        self.shape = None
        self.number = 0
        self.service = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._streamed() if self.stream else self._shared()
        if batch is None:
            code = self.service.wait()
            self.close()
            if code:
                raise ServiceError(f"the service ended with exit code {code}; its message is on stderr")
            raise StopIteration
        return batch

    def _shared(self):
        if not self.service.stdout.read(1):
            return None
        if self.memory is None:
            self._open()
        slot = self.number % 2
        self.number += 1
        (number,) = struct.unpack_from("<Q", self.memory, 40 + 8 * slot)
        (positions,) = struct.unpack_from("<I", self.memory, 56 + 4 * slot)
        if number != self.number:
            raise ServiceError(f"batch {number} in place of {self.number}")
        begin = HEADER + slot * self.shape.slot
        with memoryview(self.memory) as view, view[begin : begin + self.shape.slot] as payload:
            batch = Batch(self.shape, number, positions, payload)
        self._answer()
        return batch

    def _answer(self):
        try:
            self.service.stdin.write(READY)
            self.service.stdin.flush()
        except BrokenPipeError:
            # The service failed; the next read says so.
            pass

    def _open(self):
        import _posixshmem

        file = _posixshmem.shm_open("/" + self.name, os.O_RDONLY, mode=0)
        try:
            self.memory = mmap.mmap(file, 0, prot=mmap.PROT_READ)
        finally:
            os.close(file)
        self.shape = Shape(self.memory[:HEADER])

    def _streamed(self):
        out = self.service.stdout
        if self.shape is None:
            header = out.read(HEADER)
            if not header:
                return None
            self.shape = Shape(header)
        head = out.read(16)
        if not head:
            return None
        number, positions, length = struct.unpack("<QII", head)
        payload = out.read(length)
        if len(payload) < length:
            raise ServiceError("the stream ends within a batch")
        return Batch(self.shape, number, positions, payload)

    def close(self):
        """Ends the service."""
        for pipe in (self.service.stdin, self.service.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self.service.wait()
        if self.memory is not None:
            self.memory.close()
            self.memory = None
