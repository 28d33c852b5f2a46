// What is drawn: every text that others wrote is set as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';
const GLYPHS = { k: '\u265a', q: '\u265b', r: '\u265c', b: '\u265d', n: '\u265e', p: '\u265f' };
const PLAIN = '\ufe0e'; // no colourful picture in the glyph's place

export const at = (id) => document.getElementById(id);

export function element(name, text, className) {
  const node = document.createElement(name);
  if (text !== undefined && text !== null) node.textContent = String(text);
  if (className) node.className = className;
  return node;
}

// A phone's width, at which pictures are drawn narrow.
export const phone = window.matchMedia('(max-width: 600px)');

export function button(text, label, act) {
  const node = element('button', text);
  node.type = 'button';
  node.title = label;
  node.setAttribute('aria-label', label);
  node.addEventListener('click', act);
  return node;
}

function shape(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

// The sign is that of the rounded number, so zero has none.
export function signed(value, digits = 1) {
  if (!Number.isFinite(value)) return '\u2013';
  const text = value.toFixed(digits);
  const sign = Number(text) > 0 ? '+' : Number(text) < 0 ? '\u2212' : '';
  return sign + text.replace('-', '');
}

export const many = (number, noun) => `${number} ${number === 1 ? noun : `${noun}s`}`;

// A document has null for an infinite Elo. One end of the interval is then known, or the score says which it is.
export function elo(about) {
  const [low, high] = [about.elo_lo, about.elo_hi].map(Number.isFinite);
  const or = (value, infinite) => (Number.isFinite(value) ? signed(value) : infinite);
  if (!low && !high) return or(about.elo, { 0: '\u2212inf', 1: 'inf' }[about.score] ?? '');
  const value = or(about.elo, low ? 'inf' : '\u2212inf');
  return `${value} [${or(about.elo_lo, '\u2212inf')}, ${or(about.elo_hi, 'inf')}]`;
}

export const verdictOf = (run) => (run.verdict === 'H0' || run.verdict === 'H1' ? run.verdict : '');

// Result of a run in words. Older runs have only the reason of their stop.
export const result = (run) => (verdictOf(run) ? `${verdictOf(run)} accepted` : run.outcome ?? run.stopped_by ?? '');

export function date(seconds) {
  if (!seconds) return '';
  const day = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())} ${two(day.getHours())}:${two(day.getMinutes())}`;
}

export function clock(ms) {
  if (!Number.isFinite(ms)) return '';
  const left = Math.max(0, ms);
  const two = (number) => String(number).padStart(2, '0');
  if (left < 20000) return `0:${(Math.floor(left / 100) / 10).toFixed(1).padStart(4, '0')}`;
  // Rounded before it is divided, so that no part is 60.
  const seconds = Math.round(left / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

function squares(fen) {
  const found = [];
  String(fen).split(' ')[0].split('/').slice(0, 8).forEach((rank, y) => {
    let x = 0;
    for (const sign of rank) {
      if (sign >= '1' && sign <= '8') x += Number(sign);
      else {
        const kind = GLYPHS[sign.toLowerCase()];
        if (kind && x < 8) found.push({ x, y, kind, color: sign === sign.toLowerCase() ? 'black' : 'white' });
        x += 1;
      }
    }
  });
  return found;
}

function place(name) {
  const x = 'abcdefgh'.indexOf(name[0]);
  const y = 8 - Number(name[1]);
  return x >= 0 && y >= 0 && y < 8 ? { x, y } : null;
}

export function board(game, flipped) {
  const svg = shape('svg', { viewBox: '0 0 200 200', class: 'board', role: 'img', 'aria-label': `Position: ${game.fen}` });
  const turned = (x, y) => (flipped ? [7 - x, 7 - y] : [x, y]);
  for (let y = 0; y < 8; y += 1) {
    for (let x = 0; x < 8; x += 1) {
      svg.append(shape('rect', { x: x * 25, y: y * 25, width: 25, height: 25, class: (x + y) % 2 ? 'dark' : 'light' }));
    }
  }
  if (game.last) {
    for (const name of [game.last.slice(0, 2), game.last.slice(2, 4)]) {
      const found = place(name);
      const [x, y] = found ? turned(found.x, found.y) : [];
      if (found) svg.append(shape('rect', { x: x * 25, y: y * 25, width: 25, height: 25, class: 'mark' }));
    }
  }
  for (const { x: file, y: rank, kind, color } of squares(game.fen)) {
    const [x, y] = turned(file, rank);
    const piece = shape('text', { x: x * 25 + 12.5, y: y * 25 + 20, class: `piece ${color}` });
    piece.textContent = kind + PLAIN;
    svg.append(piece);
  }
  return svg;
}

function words(said) {
  if (!said) return '';
  const score = said.mate !== null ? `#${said.mate}` : said.cp !== null ? signed(said.cp / 100, 2) : '';
  return said.depth !== null ? `${score} depth ${said.depth}` : score;
}

function side(game, color) {
  const [name, index, turn] = color === 'white' ? [game.white, 0, 'w'] : [game.black, 1, 'b'];
  const thinks = game.turn === turn && !game.result;
  const line = element('div', undefined, thinks ? 'side turn' : 'side');
  const label = element('span', `${index ? '\u25cf' : '\u25cb'} ${name}`);
  label.title = name;
  const time = element('span', clock(game.clocks[index]), 'clock');
  if (thinks && Number.isFinite(game.clocks[index])) time.dataset.ends = String(game.seen - game.ago_ms + game.clocks[index]);
  line.append(label, time);
  return line;
}

// One game: who plays, what is left of their time, what they think, and the board.
export function game(now, evals) {
  const box = element('div', undefined, 'game');
  box.dataset.game = String(now.game);
  const end = now.result ? `${now.result} ${now.termination ?? ''}` : `game ${now.game}, ply ${now.plies}`;
  box.append(side(now, 'black'), board(now), side(now, 'white'), evaluation(evals));
  for (const [place, sign] of ['\u25cb', '\u25cf'].entries()) box.append(element('div', `${sign} ${words(now.said[place]) || '\u2013'}`, 'said'));
  box.append(element('div', end, 'said'));
  return box;
}

// Scores of both sides from White's view over the plies; lost and won flatten out.
export function evaluation(points, mark) {
  const [width, height] = [200, 60];
  const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, class: 'evals', role: 'img' });
  const last = Math.max(40, points.at(-1)?.ply ?? 0, mark ?? 0);
  const x = (ply) => (ply / last) * width;
  const y = (cp) => height / 2 - Math.tanh(cp / 400) * (height / 2 - 3);
  svg.append(shape('line', { x1: 0, x2: width, y1: height / 2, y2: height / 2, class: 'zero' }));
  for (const white of [true, false]) {
    const path = points.filter((one) => one.white === white).map((one) => `${x(one.ply).toFixed(1)},${y(one.cp).toFixed(1)}`);
    if (path.length) svg.append(shape('polyline', { points: path.join(' '), class: white ? 'of-white' : 'of-black' }));
  }
  if (mark !== undefined) svg.append(shape('line', { x1: x(mark), x2: x(mark), y1: 0, y2: height, class: 'here' }));
  const of = (white) => points.filter((one) => one.white === white).at(-1);
  const said = (one) => (one ? signed(one.cp / 100, 2) : 'nothing');
  svg.append(shape('title', {}));
  svg.lastChild.textContent = 'Scores from White\'s view: White\'s solid, Black\'s dashed; won and lost lie at the edges';
  svg.setAttribute('aria-label', `Scores from White's view: White says ${said(of(true))}, Black ${said(of(false))}`);
  return svg;
}

export function tick() {
  for (const time of document.querySelectorAll('.clock[data-ends]')) time.textContent = clock(Number(time.dataset.ends) - performance.now());
}

const nameOf = (node) => node.dataset?.key ?? node.getAttribute('href') ?? node.getAttribute('aria-label');

// Sets the rows of a list. Rows with a key that did not change stay as they are, so that the focus
// and a selection of text outlast it.
export function fill(list, rows) {
  if (list.tagName === 'TBODY' && list.closest('.cards')) rows.forEach((row) => label(list, row));
  const focused = list.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  const old = new Map([...list.children].filter((node) => node.dataset.key).map((node) => [node.dataset.key, node]));
  const kept = rows.map((row) => (old.get(row.dataset?.key)?.isEqualNode(row) ? old.get(row.dataset.key) : row));
  const stays = new Set(kept);
  for (const node of [...list.childNodes]) if (!stays.has(node)) node.remove();
  let next = list.firstChild;
  for (const node of kept) {
    if (node === next) next = next.nextSibling;
    else list.insertBefore(node, next);
  }
  if (focused && !list.contains(document.activeElement)) [...list.querySelectorAll('a, button, input')].find((node) => nameOf(node) === focused)?.focus();
}

// On a phone a row is a card, whose cells carry the heads of their columns.
function label(list, row) {
  const heads = list.closest('table').tHead?.rows[0].cells ?? [];
  [...row.cells].forEach((cell, place) => {
    if (heads[place]?.textContent) cell.dataset.label = heads[place].textContent;
  });
}

export function facts(list, pairs) {
  fill(list, pairs.filter(([, value]) => value !== undefined && value !== null && value !== '').flatMap(([key, value]) => {
    const said = element('dd');
    said.append(value instanceof Node ? value : String(value));
    return [element('dt', key), said];
  }));
}
