'use strict';
// Features of a position, block by block, as in `engine/src/nnue/sets`. A view is an array of 64 piece codes
// (`enemy * 6 + kind`, -1 for an empty square), turned so that its side plays up the board.

const KINDS = 'pnbrqk';
const LINES = {
  file: { count: 8, of: (f) => f },
  rank: { count: 8, of: (f, r) => r },
  diagonal: { count: 15, of: (f, r) => f + r },
  antidiagonal: { count: 15, of: (f, r) => f + 7 - r },
};
const CAPS = [8, 15, 16, 25, 25, 8];
const OFFSETS = [0, 9, 25, 42, 68, 94];
const STRAIGHT = [[1, 0], [-1, 0], [0, 1], [0, -1]];
const SLANTED = [[1, 1], [-1, 1], [1, -1], [-1, -1]];
const JUMPS = [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]];

// Reads the first two fields of a FEN. Returns White's view and the side to move, or an error.
function parseFen(fen) {
  const [places, turn = 'w'] = fen.trim().split(/\s+/);
  const ranks = places.split('/');
  if (ranks.length !== 8) return { error: `${ranks.length} ranks; a FEN has 8, with / between them` };
  if (turn !== 'w' && turn !== 'b') return { error: `“${turn}” to move; write w or b` };
  const view = new Array(64).fill(-1);
  for (const [down, rank] of ranks.entries()) {
    let file = 0;
    for (const letter of rank) {
      const kind = KINDS.indexOf(letter.toLowerCase());
      if (kind < 0 && !/[1-8]/.test(letter)) return { error: `“${letter}” in rank ${8 - down}; write pieces and numbers for empty squares` };
      if (kind >= 0 && file < 8) view[8 * (7 - down) + file] = kind + (letter === letter.toLowerCase() ? 6 : 0);
      file += kind >= 0 ? 1 : Number(letter);
    }
    if (file !== 8) return { error: `rank ${8 - down} has ${file} squares, too ${file > 8 ? 'many' : 'few'}; it must have 8` };
  }
  for (const [code, side] of [[5, 'White'], [11, 'Black']]) {
    const kings = view.filter((found) => found === code).length;
    if (kings !== 1) return { error: `${side} has ${kings} kings; it must have one` };
  }
  const pieces = view.filter((code) => code >= 0).length;
  if (pieces > 32) return { error: `${pieces} pieces; at most 32 are allowed` };
  return { white: view, turn };
}

// The same position from the other side's view.
function turned(view) {
  const other = new Array(64).fill(-1);
  view.forEach((code, square) => { if (code >= 0) other[square ^ 56] = (code + 6) % 12; });
  return other;
}

const withoutKings = (code) => code - Math.floor(code / 6);
const isEnemy = (code) => code >= 6;

// Squares that the piece on a square attacks.
function attacks(view, from) {
  const code = view[from], kind = code % 6, found = [];
  const up = isEnemy(code) ? -1 : 1;
  const [file, rank] = [from % 8, from >> 3];
  const steps = [[[1, up], [-1, up]], JUMPS, SLANTED, STRAIGHT, [...STRAIGHT, ...SLANTED], [...STRAIGHT, ...SLANTED]][kind];
  const far = kind >= 2 && kind <= 4;
  for (const [across, along] of steps) {
    for (let f = file + across, r = rank + along; f >= 0 && f < 8 && r >= 0 && r < 8; f += across, r += along) {
      found.push(8 * r + f);
      if (!far || view[8 * r + f] >= 0) break;
    }
  }
  return found;
}

// Squares that the piece on a square can go to: no castling, no en passant, pins ignored.
function destinations(view, from, withDoubleSteps) {
  const code = view[from];
  const enemies = attacks(view, from).filter((to) => view[to] >= 0 && isEnemy(view[to]) !== isEnemy(code));
  if (code % 6 !== 0) return [...enemies, ...attacks(view, from).filter((to) => view[to] < 0)];
  const up = isEnemy(code) ? -8 : 8;
  if (from + up < 0 || from + up > 63 || view[from + up] >= 0) return enemies;
  const rank = isEnemy(code) ? 6 : 1;
  const far = withDoubleSteps && from >> 3 === rank && view[from + 2 * up] < 0;
  return [...enemies, from + up, ...(far ? [from + 2 * up] : [])];
}

// Squares that the pieces of each code can go to without leaving their king attacked.
function reach(view) {
  const found = Array.from({ length: 12 }, () => new Set());
  view.forEach((code, from) => {
    if (code < 0) return;
    for (const to of destinations(view, from, false)) {
      const after = view.slice();
      after[from] = -1;
      after[to] = code;
      const king = after.indexOf(isEnemy(code) ? 11 : 5);
      const attacked = after.some((other, square) => other >= 0 && isEnemy(other) !== isEnemy(code) && attacks(after, square).includes(king));
      if (!attacked) found[code].add(to);
    }
  });
  return found;
}

// Features of a block that are on in a view, counted from 0.
function blockFeatures(block, view) {
  const found = new Set(), name = block.name, king = view.indexOf(5);
  const each = (visit) => view.forEach((code, square) => { if (code >= 0) visit(code, square, square % 8, square >> 3); });
  const line = LINES[name.replace('-pairs', '')];
  if (name.startsWith('top-pairs')) {
    const stands = (feature) => view[feature % 64] === feature >> 6;
    block.pairs.forEach(([one, two], place) => { if (stands(one) && stands(two)) found.add(place); });
  } else if (line && name.endsWith('-pairs')) {
    const last = new Array(15).fill(-1);
    // By rising file, and on a file by rising rank.
    for (let f = 0; f < 8; f += 1) {
      for (let r = 0; r < 8; r += 1) {
        const code = view[8 * r + f], number = line.of(f, r);
        if (code < 0) continue;
        if (last[number] >= 0) found.add(144 * number + 12 * last[number] + code);
        last[number] = code;
      }
    }
  } else if (line) each((code, square, f, r) => found.add(line.count * code + line.of(f, r)));
  else if (name === 'piece') each((code, square) => found.add(64 * code + square));
  else if (name === 'king-all') each((code, square) => found.add(768 * king + 64 * code + square));
  else if (name === 'moves') each((code, from) => destinations(view, from, true).forEach((to) => found.add(64 * from + to)));
  else if (name === 'mobility-squares') reach(view).forEach((squares, code) => squares.forEach((square) => found.add(64 * code + square)));
  else if (name === 'mobility-counts') {
    reach(view).forEach((squares, code) => found.add(103 * Math.floor(code / 6) + OFFSETS[code % 6] + Math.min(squares.size, CAPS[code % 6])));
  } else {
    each((code, square, f, r) => {
      if (code % 6 === 5) return;
      const c = withoutKings(code), files = king % 8 - f + 7, ranks = (king >> 3) - r + 7;
      if (name === 'king-piece') found.add(640 * king + 64 * c + square);
      if (name === 'king-relative') found.add(225 * c + 15 * files + ranks);
      if (name === 'king-relative-h') found.add(120 * c + 8 * files + r);
      if (name === 'king-relative-v') found.add(120 * c + 15 * f + ranks);
    });
  }
  return found;
}

// Squares that a piece attacks on an empty board, for each kind from the knight on and each square: a row of numbers with mean 0 and
// length 1.
const MOVE_PATTERNS = Array.from({ length: 5 }, (_, place) => Array.from({ length: 64 }, (__, from) => {
  const view = new Array(64).fill(-1);
  view[from] = place + 1;
  const marks = new Float64Array(64);
  attacks(view, from).forEach((to) => { marks[to] = 1; });
  return normal(marks);
})).flatMap((rows, place) => rows.map((row, square) => ({ kind: place + 1, square, row })));

// Numbers shifted and scaled to mean 0 and length 1.
function normal(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const length = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0)) || 1;
  return values.map((value) => (value - mean) / length);
}

// Best correlation of the weights of 64 squares with the moves of a piece from one square.
function likeness(weights) {
  const row = normal(Float64Array.from(weights));
  let best = { kind: 1, square: 0, value: 0 };
  for (const pattern of MOVE_PATTERNS) {
    let value = 0;
    for (let square = 0; square < 64; square += 1) value += row[square] * pattern.row[square];
    if (Math.abs(value) > Math.abs(best.value)) best = { kind: pattern.kind, square: pattern.square, value };
  }
  return best;
}

// Rows of the first layer that are on in a view, in ascending order. King buckets and mirroring are of the set `piece` alone.
function activeRows(layout, view) {
  const king = view.indexOf(5), [file, rank] = [king % 8, king >> 3];
  const bucket = layout.kingBuckets > 1 ? layout.bucketMap[4 * rank + Math.min(file, 7 - file)] : 0;
  const flip = layout.mirrored && file > 3 ? 7 : 0;
  const seen = flip ? view.map((_, square) => view[square ^ flip]) : view;
  const rows = [];
  for (const block of layout.blocks) for (const feature of blockFeatures(block, seen)) rows.push(768 * bucket + block.first + feature);
  return rows.sort((a, b) => a - b);
}

// Sums of neurons, the biases included. `weights` are by row, `count` a row.
function accumulate(rows, weights, biases) {
  const count = biases.length, sums = Float64Array.from(biases);
  for (const row of rows) for (let neuron = 0; neuron < count; neuron += 1) sums[neuron] += weights[row * count + neuron];
  return sums;
}

const clamp = (value, one) => Math.min(Math.max(value, 0), one);

// Output bucket of a position with so many pieces.
const outputBucket = (pieces, buckets) => Math.floor((pieces - 2) / Math.ceil(32 / buckets));

// Layers after the first of an output bucket. Without layers there are the outputs of all buckets.
function headOfBucket(layout, head, bucket) {
  if (layout.kind === 'screlu') return head;
  const part = (list) => list.slice(bucket * list.length / layout.outputBuckets, (bucket + 1) * list.length / layout.outputBuckets);
  return Object.fromEntries(Object.entries(head).map(([name, list]) => [name, part(list)]));
}

// Centipawns that each neuron of both sides adds to the evaluation. With layers, that is what it adds through the units that are
// neither 0 nor saturated, and all neurons are needed: null without them.
function contributions(layout, heads, sides, bucket) {
  const count = layout.neurons.length, head = headOfBucket(layout, heads, bucket);
  if (layout.kind === 'screlu') {
    return sides.map((sums, side) => Array.from(sums, (sum, neuron) =>
      clamp(sum, 255) ** 2 * head.output[(2 * bucket + side) * count + neuron] / 255 * 400 / (255 * 64)));
  }
  if (!layout.whole) return null;
  const { grain, fineness } = layout, open = (sum, step) => (sum > 0 && sum < 127 * 64 * step ? 1 : 0);
  const second = secondSums(layout, head, sides);
  // Centipawns for one more of a unit's 64 * 127 steps. The sums of a third layer have `grain * fineness` times as many.
  let slopes = Array.from(head.last, (weight) => weight / fineness / 16 / 64);
  if (layout.third) {
    const third = thirdSums(head, second.map((sum) => clamp(sum * grain / 64, 127 * grain))).map((sum, unit) => open(sum, grain * fineness) * slopes[unit]);
    slopes = second.map((_, input) => third.reduce((sum, slope, unit) => sum + slope * head.middle[second.length * unit + input], 0) / (64 * fineness));
  }
  slopes = slopes.map((slope, unit) => slope * open(second[unit], 1));
  return sides.map((sums, side) => {
    const inputs = secondInputs(layout, sums);
    // Both neurons of a pair have half of what their product adds.
    const share = (neuron) => (layout.activation === 'products' ? (inputs[neuron] + inputs[partner(layout, neuron)]) / 2 : inputs[neuron]);
    return inputs.map((_, neuron) =>
      share(neuron) * slopes.reduce((total, slope, unit) => total + slope * head.output[(2 * unit + side) * count + neuron], 0));
  });
}

// Place of the other neuron of a pair: of each 64 neurons, the first 32 are multiplied with the last 32.
function partner(layout, neuron) {
  layout.places ??= new Map(layout.neurons.map((number, place) => [number, place]));
  return layout.places.get(layout.neurons[neuron] ^ 32);
}

// Inputs of the second layer at each neuron of one side. A product is that of the first neuron of the pair, the other has 0.
function secondInputs(layout, sums) {
  if (layout.activation === 'clipped') return Array.from(sums, (sum) => clamp(sum, 127));
  if (layout.activation === 'squared') return Array.from(sums, (sum) => Math.floor((clamp(sum, 255) ** 2 + 256) / 512));
  return Array.from(sums, (sum, neuron) => (layout.neurons[neuron] & 32 ? 0
    : Math.floor((clamp(sum, 255) * clamp(sums[partner(layout, neuron)], 255) + 256) / 512)));
}

// Value of a unit of the second or third layer, 0 to 127 times the grain, from its sum, of which a value has `step`.
const unitOf = (layout, sum, step) => clamp(Math.floor(sum / step), 127 * layout.grain);

// Sums of the second layer.
function secondSums(layout, head, sides) {
  const count = layout.neurons.length, inputs = sides.map((sums) => secondInputs(layout, sums));
  return Array.from(head.biases, (bias, unit) => {
    let sum = bias;
    inputs.forEach((values, side) => values.forEach((value, neuron) => {
      sum += value * head.output[(2 * unit + side) * count + neuron];
    }));
    return sum;
  });
}

// Sums of the third layer.
const thirdSums = (head, units) => Array.from(head.middleBiases, (bias, unit) =>
  units.reduce((sum, value, input) => sum + value * head.middle[units.length * unit + input], bias));

// Evaluation in whole numbers, as the engine computes it. All neurons are needed.
function evaluate(layout, head, sides, bucket) {
  return Math.min(Math.max(unboundedEvaluation(layout, head, sides, bucket), -20000), 20000) + 0;
}

function unboundedEvaluation(layout, heads, sides, bucket) {
  const count = layout.neurons.length, head = headOfBucket(layout, heads, bucket);
  if (layout.kind === 'screlu') {
    let sum = 0;
    sides.forEach((sums, side) => sums.forEach((value, neuron) => {
      sum += clamp(value, 255) ** 2 * head.output[(2 * bucket + side) * count + neuron];
    }));
    return Math.trunc((Math.trunc(sum / 255) + head.biases[bucket]) * 400 / (255 * 64));
  }
  let units = secondSums(layout, head, sides).map((sum) => unitOf(layout, sum, 64 / layout.grain));
  if (layout.third) units = thirdSums(head, units).map((sum) => unitOf(layout, sum, 64 * layout.fineness));
  return Math.trunc(units.reduce((sum, value, unit) => sum + value * head.last[unit], head.lastBiases[0]) / (16 * layout.grain * layout.fineness));
}
