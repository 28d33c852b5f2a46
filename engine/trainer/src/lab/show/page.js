'use strict';
// The page: a list of neurons, the weights of one as boards, and a position that lights them.

const layout = DATA.layout;
const byId = (id) => document.getElementById(id);
const element = (tag, text, parent) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
};
const numbers = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)), view = new DataView(bytes.buffer);
  return Int16Array.from({ length: bytes.length / 2 }, (_, place) => view.getInt16(2 * place, true));
};
const { one } = layout;
const GLYPHS = '♙♘♗♖♕♔♟♞♝♜♛♚';
const squareName = (square) => 'abcdefgh'[square % 8] + (1 + (square >> 3));
const signed = (value, digits) => (value < 0 ? '−' : '+') + Math.abs(value).toFixed(digits);

const snapshots = DATA.snapshots.map((stored) => ({ stored, ready: null }));
// Decodes a snapshot when it is first shown.
function snapshot(place) {
  const entry = snapshots[place];
  entry.ready ??= { ...entry.stored, weights: numbers(entry.stored.weights), biases: numbers(entry.stored.biases), head: { ...entry.stored.head, output: numbers(entry.stored.head.output) } };
  return entry.ready;
}

// Behind a layer of units, the share of one neuron depends on all others.
const hasShares = layout.kind === 'screlu' || layout.whole;

const state = { place: snapshots.length - 1, neuron: 0, sort: hasShares ? 'share' : null, bucket: 0, king: 4, position: null };

// Block whose weights are boards of 64 squares for each piece.
const boardBlock = layout.blocks.find((block) => block.name === 'piece' || block.name === 'mobility-squares');

// Likeness of each neuron's best board to the moves of a piece, of the snapshot and king bucket.
function likenesses(net) {
  net.likenesses ??= [];
  net.likenesses[state.bucket] ??= layout.neurons.map((_, neuron) => {
    const count = layout.neurons.length, first = firstRow(boardBlock);
    const boards = Array.from({ length: 12 }, (__, code) => Array.from({ length: 64 }, (___, square) => net.weights[(first + 64 * code + square) * count + neuron]));
    return boards.map(likeness).reduce((best, found) => (Math.abs(found.value) > Math.abs(best.value) ? found : best));
  });
  return net.likenesses[state.bucket];
}

// Values of all shown neurons for the snapshot and the position.
function measure() {
  const net = snapshot(state.place), count = layout.neurons.length, { position } = state;
  const columns = layout.neurons.map((number) => ({ number }));
  for (let neuron = 0; neuron < count; neuron += 1) {
    let square = 0;
    for (let at = neuron; at < net.weights.length; at += count) square += net.weights[at] ** 2;
    columns[neuron].norm = Math.sqrt(square) / one;
    let output = 0;
    for (let at = neuron; at < net.head.output.length; at += count) output += net.head.output[at] ** 2;
    columns[neuron].output = Math.sqrt(output) / 64;
  }
  if (boardBlock) likenesses(net).forEach((found, neuron) => { columns[neuron].like = found.value; columns[neuron].pattern = `${'PNBRQK'[found.kind]}${squareName(found.square)}`; });
  if (position) {
    const sides = position.rows.map((rows) => accumulate(rows, net.weights, net.biases));
    const shares = contributions(layout, net.head, sides, position.output);
    position.sides = sides;
    columns.forEach((column, neuron) => {
      const active = sides.map((sums) => clamp(sums[neuron], one) / one).map((value) => (layout.activation === 'squared' ? value * value : value));
      [column.us, column.them] = active;
      if (shares) column.share = shares[0][neuron] + shares[1][neuron];
    });
    position.value = layout.whole ? evaluate(layout, net.head, sides, position.output) : null;
    position.shown = shares && columns.reduce((sum, column) => sum + column.share, 0);
  }
  return columns;
}

const COLUMNS = [
  ['number', 'neuron', (value) => String(value)],
  ['share', hasShares ? 'cp' : `cp needs all ${layout.hidden} neurons; this page has ${layout.neurons.length}`, (value) => signed(value, 1)],
  ['norm', 'weights', (value) => value.toFixed(2)],
  ['output', 'output', (value) => value.toFixed(2)],
  ...(boardBlock ? [['like', 'moves like', (value, column) => `${column.pattern} ${signed(value, 2)}`]] : []),
  ['us', 'to move', (value) => value.toFixed(2)],
  ['them', 'opponent', (value) => value.toFixed(2)],
];
let measured = [];

function drawList() {
  measured = measure();
  const heads = document.querySelector('thead tr'), body = document.querySelector('tbody');
  heads.replaceChildren(...COLUMNS.map(([key, title]) => {
    const cell = element('th'), button = element('button', title, cell);
    button.type = 'button';
    button.disabled = key === 'share' && !hasShares;
    if (state.sort === key) cell.setAttribute('aria-sort', 'descending');
    button.onclick = () => { state.sort = key; drawList(); };
    return cell;
  }));
  const order = measured.map((_, neuron) => neuron);
  if (state.sort === 'number') order.sort((a, b) => measured[a].number - measured[b].number);
  else if (state.sort) order.sort((a, b) => Math.abs(measured[b][state.sort] ?? 0) - Math.abs(measured[a][state.sort] ?? 0));
  state.order = order;
  body.replaceChildren(...order.map((neuron) => {
    const row = element('tr');
    row.dataset.neuron = neuron;
    row.onclick = () => choose(neuron);
    for (const [key, , written] of COLUMNS) {
      const value = measured[neuron][key];
      element('td', value === undefined ? '' : written(value, measured[neuron]), row);
    }
    return row;
  }));
  const { position } = state;
  byId('value').textContent = !position ? '' : position.value !== null
    ? `Evaluation: ${signed(position.value, 0)} cp for the side to move.`
    : position.shown !== null && position.shown !== undefined ? `The shown neurons add ${signed(position.shown, 0)} cp; the others are not in this page.` : 'Not all neurons are in this page, so there is no evaluation.';
  mark();
}

const mark = () => document.querySelectorAll('tbody tr').forEach((row) => row.setAttribute('aria-selected', Number(row.dataset.neuron) === state.neuron));

// Feature of a panel's cell, for the square of the own king if it depends on that; -1 for none.
function featureAt(panel, x, y) {
  const feature = panel.features[panel.columns * y + x];
  return feature === null ? -1 : feature + panel.block.kingStride * state.king;
}

// Size of a panel's cells in pixels.
const CELL_SIZES = { 64: 5, 32: 10, 26: 12, 15: 7, 12: 9 };
const cellSize = (panel) => CELL_SIZES[panel.columns] ?? (panel.rows > 8 ? 8 : 14);

const firstRow = (block) => block.first + (layout.kingBuckets > 1 ? 768 * state.bucket : 0);

// Colours of positive and negative weights, of lines and of rings.
function colors() {
  const style = getComputedStyle(document.documentElement);
  return ['--plus', '--minus', '--line', '--ink'].map((name) => style.getPropertyValue(name).trim());
}

function drawPanel(panel, weightOf, most, lit, label) {
  const figure = element('figure'), canvas = element('canvas', undefined, figure);
  const { columns, rows, names } = panel, size = cellSize(panel), frame = columns === 64 ? 8 : undefined, sharp = 2;
  [canvas.width, canvas.height] = [columns * size * sharp, rows * size * sharp];
  canvas.style.width = `${columns * size}px`;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${label}: ${panel.title}`);
  const pen = canvas.getContext('2d'), [plus, minus, rule, ring] = colors();
  pen.scale(sharp, sharp);
  const cells = (visit) => {
    for (let y = 0; y < rows; y += 1) for (let x = 0; x < columns; x += 1) if (featureAt(panel, x, y) >= 0) visit(x, y, featureAt(panel, x, y));
  };
  cells((x, y, feature) => {
    const weight = weightOf(feature);
    pen.fillStyle = `rgba(${weight < 0 ? minus : plus}, ${Math.min(1, Math.abs(weight) / most)})`;
    pen.fillRect(x * size, y * size, size, size);
  });
  pen.strokeStyle = rule;
  pen.lineWidth = frame ? 2 : 0.5;
  for (let x = 0; x <= columns; x += frame ?? 1) pen.strokeRect(x * size, 0, 0, rows * size);
  for (let y = 0; y <= rows; y += frame ?? 1) pen.strokeRect(0, y * size, columns * size, 0);
  pen.strokeStyle = ring;
  pen.lineWidth = size > 6 ? 2 : 1;
  cells((x, y, feature) => { if (lit.has(feature)) pen.strokeRect(x * size + 1, y * size + 1, size - 2, size - 2); });
  canvas.onpointermove = canvas.onpointerdown = (event) => {
    const scale = columns * size / canvas.getBoundingClientRect().width;
    const [x, y] = [event.offsetX, event.offsetY].map((offset) => Math.floor(offset * scale / size)), feature = featureAt(panel, x, y);
    if (feature < 0) return;
    canvas.title = `${label}, ${panel.title}: ${names[columns * y + x]}, feature ${panel.block.first + feature}, weight ${signed(weightOf(feature) / one, 3)}`;
    byId('cell').textContent = canvas.title;
  };
  element('figcaption', panel.title, figure);
  return figure;
}

// A choice of the squares of the own king, or of king buckets.
function chooser(block) {
  const byKing = block.kingStride > 0;
  if (!byKing && layout.kingBuckets === 1) return null;
  const label = element('label', byKing ? ' Own king on ' : ' King bucket '), select = element('select', undefined, label);
  for (let place = 0; place < (byKing ? 64 : layout.kingBuckets); place += 1) element('option', byKing ? squareName(place) : place, select).value = place;
  select.value = byKing ? state.king : state.bucket;
  select.onchange = () => { state[byKing ? 'king' : 'bucket'] = Number(select.value); drawNeuron(); };
  return label;
}

function drawBlock(block) {
  const net = snapshot(state.place), count = layout.neurons.length, first = firstRow(block);
  const weightOf = (feature) => net.weights[(first + feature) * count + state.neuron];
  const active = state.position ? state.position.rows[Number(byId('side').value)] : [];
  const lit = new Set(active.map((row) => row - first).filter((feature) => feature >= 0 && feature < block.size));
  const section = element('section'), title = element('h2', `${block.name}: ${block.size} features, ${lit.size} on`, section);
  const choice = chooser(block);
  if (choice) title.append(choice);
  const list = block.panels.map((panel) => ({ ...panel, block }));
  let most = 1;
  for (const panel of list) {
    for (let y = 0; y < panel.rows; y += 1) for (let x = 0; x < panel.columns; x += 1) {
      const feature = featureAt(panel, x, y);
      if (feature >= 0) most = Math.max(most, Math.abs(weightOf(feature)));
    }
  }
  element('p', `Full colour is a weight of ${(most / one).toFixed(3)}.${block.name.endsWith('-pairs') && !block.pairs ? ' Rows: the lower or left piece, own pawn to enemy king; columns: the other one.' : ''}${
    block.name.startsWith('king-relative') ? ' The own king stands in the middle of a relative axis.' : ''}${
    layout.mirrored ? ' The board is mirrored so that the own king stands on files a to d.' : ''}`, section);
  const row = element('div', undefined, section);
  row.className = 'panels';
  row.append(...list.map((panel) => drawPanel(panel, weightOf, most, lit, block.name)));
  if (block.pairs) {
    const strongest = block.pairs.map((_, place) => place).sort((a, b) => Math.abs(weightOf(b)) - Math.abs(weightOf(a))).slice(0, 24);
    const items = element('ol', undefined, section);
    for (const place of strongest) element('li', `${block.panels[0].names[place]}: ${signed(weightOf(place) / one, 3)}${lit.has(place) ? ', on' : ''}`, items);
  }
  return section;
}

// Bars above a line for positive weights and below it for others, the highest for `most`. `say` describes the bar under the pointer;
// `take` gets the number of one that is clicked.
function drawBars(weights, most, marked, say, take) {
  const canvas = element('canvas'), count = weights.length, [plus, minus, rule, ring] = colors();
  const wide = Math.min(12, Math.max(1, Math.floor(384 / count))), middle = 14, sharp = 2;
  [canvas.width, canvas.height] = [count * wide * sharp, 2 * middle * sharp];
  canvas.style.width = `${count * wide}px`;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', say(-1));
  const pen = canvas.getContext('2d');
  pen.scale(sharp, sharp);
  weights.forEach((weight, place) => {
    const high = middle * Math.abs(weight) / most;
    pen.fillStyle = `rgb(${weight < 0 ? minus : plus})`;
    pen.fillRect(place * wide, weight < 0 ? middle : middle - high, wide > 2 ? wide - 1 : wide, high);
  });
  pen.fillStyle = rule;
  pen.fillRect(0, middle - 0.25, count * wide, 0.5);
  pen.strokeStyle = ring;
  if (marked >= 0) pen.strokeRect(marked * wide + 0.5, 0.5, Math.max(1, wide - 1), 2 * middle - 1);
  const placeOf = (event) => clamp(Math.floor(event.offsetX / canvas.getBoundingClientRect().width * count), count - 1);
  canvas.onpointermove = canvas.onpointerdown = (event) => {
    canvas.title = say(placeOf(event));
    byId('unit').textContent = canvas.title;
  };
  if (take) canvas.onclick = (event) => take(placeOf(event));
  return canvas;
}

const largest = (weights) => weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1);

// Layers after the first of the position's output bucket, without a position those of the most pieces.
const headOfPosition = () => headOfBucket(layout, snapshot(state.place).head, state.position?.output ?? layout.outputBuckets - 1);

// Units of the second layer: the neurons that feed each of them, and its weights to the next layer.
function drawUnits() {
  if (layout.kind === 'screlu' || !byId('units').open) return;
  const head = headOfPosition(), { position } = state, count = layout.neurons.length, isDeep = layout.third;
  const values = position && layout.whole ? secondSums(layout, head, position.sides).map((sum) => unitOf(layout, sum, 64 / layout.grain)) : null;
  const centipawns = (weight) => `${signed(weight * 127 / (16 * layout.fineness), 1)} cp`;
  const row = (text, ...canvases) => {
    const made = element('div');
    element('span', text, made);
    made.append(...canvases);
    return made;
  };
  const layer = isDeep ? 'third' : 'second';
  const ofBucket = layout.outputBuckets > 1 ? `, output bucket ${position?.output ?? layout.outputBuckets - 1}` : '';
  const saysLast = (unit) => (unit < 0 ? 'Weights to the output' : `Unit ${unit} of the ${layer} layer adds ${centipawns(head.last[unit])} if it is full`);
  const [most, mostThird] = [largest(head.output), largest(head.middle)];
  const rows = Array.from(head.biases, (bias, unit) => {
    const name = `Unit ${unit}`;
    const sides = ['side to move', 'opponent'].map((side, place) => {
      const weights = head.output.subarray((2 * unit + place) * count, (2 * unit + place + 1) * count);
      const say = (neuron) => `${name}, ${side}${neuron < 0 ? '' : `: neuron ${layout.neurons[neuron]}, weight ${signed(weights[neuron] / 64, 2)}`}`;
      return drawBars(weights, most, state.neuron, say, choose);
    });
    if (isDeep) {
      const weights = Array.from({ length: 32 }, (_, next) => head.middle[head.biases.length * next + unit]);
      const say = (next) => `${name}${next < 0 ? ' to the third layer' : ` to unit ${next} of the third layer, weight ${signed(weights[next] / (64 * layout.fineness), 2)}`}`;
      sides.push(drawBars(weights, mostThird, -1, say));
    }
    const onward = isDeep ? '' : `, ${centipawns(head.last[unit])} if full`;
    return row(`${name}: bias ${signed(bias / (64 * 127), 2)}${values ? `, value ${(values[unit] / (127 * layout.grain)).toFixed(2)}` : ''}${onward}`, ...sides);
  });
  byId('feeds').replaceChildren(row(`Weights of the ${layer} layer to the output${ofBucket}`, drawBars(head.last, largest(head.last), -1, saysLast)), ...rows);
}

function drawNeuron() {
  const net = snapshot(state.place), count = layout.neurons.length, { output } = headOfPosition(), columns = output.length / (2 * count);
  byId('which').textContent = `Neuron ${layout.neurons[state.neuron]}, bias ${signed(net.biases[state.neuron] / one, 3)}`;
  const outputs = (side) => Array.from({ length: columns }, (_, column) => signed(output[(2 * column + side) * count + state.neuron] / 64, 2)).join(' ');
  const name = layout.kind === 'screlu' ? 'Output weights by bucket, few pieces first' : 'Weights to the second layer';
  byId('head').replaceChildren(...[0, 1].map((side) => element('p', `${name}, ${side ? 'opponent' : 'side to move'}: ${outputs(side)}`)));
  byId('blocks').replaceChildren(...layout.blocks.map(drawBlock));
  drawUnits();
  mark();
}

function choose(neuron) {
  state.neuron = neuron;
  drawNeuron();
  // Scrolls the list alone, not the page.
  const list = byId('list'), row = document.querySelector(`tr[data-neuron="${neuron}"]`);
  const [top, bottom] = [row.offsetTop - 2 * row.offsetHeight, row.offsetTop + row.offsetHeight - list.clientHeight];
  list.scrollTop = Math.max(Math.min(list.scrollTop, top), bottom);
}

const step = (by) => choose(state.order.at((state.order.indexOf(state.neuron) + by) % state.order.length));

// Shows a snapshot; the slider keeps the number in its range.
const showSnapshot = (place) => {
  byId('snapshot').value = place;
  setSnapshot();
};

function drawBoard(parsed) {
  const cells = [];
  for (let y = 0; y < 8; y += 1) for (let x = 0; x < 8; x += 1) {
    const code = parsed.white[8 * (7 - y) + x], cell = element('i', code < 0 ? '' : GLYPHS[code] + '\uFE0E');
    if ((x + y) % 2) cell.className = 'dark';
    cells.push(cell);
  }
  byId('board').replaceChildren(...cells);
}

// Takes the typed position; one with an error leaves the last one.
function setPosition() {
  const parsed = parseFen(byId('fen').value);
  byId('fault').textContent = parsed.error ?? '';
  if (parsed.error) return false;
  const black = turned(parsed.white), views = parsed.turn === 'w' ? [parsed.white, black] : [black, parsed.white];
  const pieces = parsed.white.filter((code) => code >= 0).length;
  state.position = { views, rows: views.map((view) => activeRows(layout, view)), output: outputBucket(pieces, layout.outputBuckets) };
  drawBoard(parsed);
  setSide();
  return true;
}

// Turns the boards that depend on the own king to that of the chosen side.
function setSide() {
  const side = Number(byId('side').value), { views, rows, output } = state.position;
  state.king = views[side].indexOf(5);
  state.bucket = layout.kingBuckets > 1 ? Math.floor(rows[side][0] / 768) : 0;
  byId('lit').textContent = `${rows[side].length} features on, output bucket ${output}.`;
  drawList();
  drawNeuron();
}

function setSnapshot() {
  state.place = Number(byId('snapshot').value);
  byId('name').textContent = `${state.place + 1} of ${snapshots.length}: ${snapshots[state.place].stored.name}`;
  drawList();
  drawNeuron();
}

// Presses keys, and checks the neuron or snapshot that each leads to.
function checkKeys() {
  const press = (key, shiftKey) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true }));
  for (const [key, shift, place] of [['Home', false, 0], ['ArrowRight', true, 10], ['ArrowLeft', false, 9], ['End', false, -1], ['ArrowRight', false, 0]]) {
    press(key, shift);
    if (state.neuron !== state.order.at(place % state.order.length)) throw new Error(`${key} leads to place ${state.order.indexOf(state.neuron)}`);
  }
  for (const [key, shift, place] of [['Home', true, 0], ['ArrowUp', true, 10], ['ArrowDown', true, 0], ['ArrowUp', false, 1], ['End', true, 10]]) {
    press(key, shift);
    if (state.place !== Math.min(place, snapshots.length - 1)) throw new Error(`${key} leads to snapshot ${state.place}`);
  }
}

// Goes through every neuron of every snapshot, and says so in the document, for a test.
function check() {
  let drawn = 0;
  for (let place = 0; place < snapshots.length; place += 1) {
    showSnapshot(place);
    for (const neuron of state.order.slice(0, 8)) { choose(neuron); drawn += document.querySelectorAll('canvas').length; }
  }
  checkKeys();
  const [canvas] = document.querySelectorAll('#blocks canvas'), { left, top } = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: left + 3, clientY: top + 3 }));
  if (!/feature [0-9]+, weight/.test(canvas.title)) throw new Error(`a cell without its feature: ${canvas.title}`);
  byId('units').open = true;
  drawUnits();
  const found = document.querySelectorAll('#feeds canvas').length, units = headOfPosition().biases.length;
  const expected = layout.kind === 'screlu' ? 0 : 1 + (layout.third ? 3 : 2) * units;
  if (found !== expected) throw new Error(`${found} rows of bars in place of ${expected}`);
  const isWide = document.documentElement.scrollWidth > window.innerWidth;
  byId('fen').value = 'no position';
  if (setPosition() || !byId('fault').textContent) throw new Error('a wrong FEN is taken');
  if (isWide) throw new Error(`${document.documentElement.scrollWidth} pixels wide in ${window.innerWidth}`);
  return `ok ${drawn} value ${state.position.value}`;
}

byId('about').textContent = DATA.about;
byId('snapshot').max = snapshots.length - 1;
byId('snapshot').value = state.place;
byId('snapshots').hidden = snapshots.length === 1;
byId('name').textContent = `${state.place + 1} of ${snapshots.length}: ${DATA.snapshots[state.place].name}`;
byId('snapshot').oninput = setSnapshot;
byId('fen').value = DATA.fen;
byId('fen').oninput = setPosition;
byId('side').onchange = setSide;
byId('before').onclick = () => step(-1);
byId('after').onclick = () => step(1);
byId('units').hidden = layout.kind === 'screlu';
byId('units').ontoggle = drawUnits;
// Arrows move by one, with Shift by ten. Home and End are for neurons, with Shift for snapshots.
document.addEventListener('keydown', (event) => {
  if (event.target.matches('input, select') || event.ctrlKey || event.altKey || event.metaKey) return;
  const { key, shiftKey } = event, by = shiftKey ? 10 : 1, isEnd = key === 'Home' || key === 'End';
  if (key === 'ArrowLeft' || key === 'ArrowRight') step(key === 'ArrowLeft' ? -by : by);
  else if (isEnd && !shiftKey) choose(state.order.at(key === 'Home' ? 0 : -1));
  else if (snapshots.length === 1) return;
  else if (isEnd) showSnapshot(key === 'Home' ? 0 : snapshots.length - 1);
  else if (key === 'ArrowUp' || key === 'ArrowDown') showSnapshot(state.place + (key === 'ArrowUp' ? by : -by));
  else return;
  event.preventDefault();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawNeuron);
setPosition();
state.neuron = state.order[0];
drawNeuron();
if (location.hash === '#check') {
  try { document.documentElement.dataset.check = check(); } catch (error) { document.documentElement.dataset.check = `no: ${error}`; }
}
