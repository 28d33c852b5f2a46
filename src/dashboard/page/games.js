// The games of a run: the list with its filters, and one game on the board.
import { api, ask, failed, json } from './api.js';
import { at, board, button, element, evaluation, fill, many, signed } from './view.js';

const FILTERS = ['player', 'result', 'termination', 'opening'];

let of = null; // the run
let page = 0;
let one = null; // the game on the board: { game, plies, at }
let flipped = false;

const chosen = (name) => at(`game-${name}`).value;

function options(name, values, words) {
  const select = at(`game-${name}`);
  const now = select.value;
  const option = (value, text) => {
    const node = element('option', text);
    node.value = value;
    return node;
  };
  fill(select, [option('', 'all'), ...values.map((value, place) => option(value, words?.[place] ?? value))]);
  select.value = values.includes(now) ? now : '';
}

export function resetGames(id) {
  of = id;
  page = 0;
  one = null;
  at('games-part').hidden = true;
  at('replay').hidden = true;
  for (const name of FILTERS) at(`game-${name}`).value = '';
}

export async function games(id) {
  if (id !== of) return;
  const query = new URLSearchParams({ page, ...Object.fromEntries(FILTERS.map((name) => [name, chosen(name)])) });
  let found;
  try {
    found = await json(api(id, `/games?${query}`));
  } catch {
    return; // only the summary was kept
  }
  if (id !== of) return;
  at('games-part').hidden = found.all === 0;
  options('player', found.players);
  options('termination', ['fault', ...found.terminations], ['an engine\'s fault', ...found.terminations]);
  options('result', chosen('player') ? ['win', 'draw', 'loss'] : ['1-0', '1/2-1/2', '0-1']);
  const pages = Math.max(1, Math.ceil(found.total / found.size));
  at('games-count').textContent = found.total === found.all ? many(found.all, 'game') : `${found.total} of ${many(found.all, 'game')}`;
  at('games-page').textContent = `page ${page + 1} of ${pages}`;
  at('games-before').disabled = page === 0;
  at('games-after').disabled = page + 1 >= pages;
  fill(at('game-rows'), found.games.map((game) => {
    const line = element('tr');
    line.dataset.key = String(game.game);
    const number = element('td', undefined, 'number');
    number.append(button(game.game, `show game ${game.game}`, () => show(game.game).catch(failed)));
    const opening = game.eco ? `${game.eco} ${game.name}` : `no. ${game.opening}`;
    line.append(number, element('td', game.white, 'player'), element('td', game.black, 'player'), element('td', game.is_void ? `${game.result}, void` : game.result, 'short'),
      element('td', game.termination), element('td', game.plies, 'number'), element('td', opening));
    return line;
  }));
}

// One game.

async function show(number) {
  const found = await json(api(of, `/games/${number}`));
  one = { ...found, at: found.plies.length };
  at('replay').hidden = false;
  const [, side, , , , first] = found.fen.split(' ');
  const offset = side === 'b' ? 1 : 0;
  fill(at('replay-moves'), found.plies.map((ply, place) => {
    const move = element('button', ply.san, ply.is_book ? 'move book' : 'move');
    move.type = 'button';
    move.addEventListener('click', () => go(place + 1));
    const isWhite = (place + offset) % 2 === 0;
    const number = (Number(first) || 1) + Math.floor((place + offset) / 2);
    if (!isWhite && place > 0) return move;
    const step = element('span', undefined, 'step');
    step.append(element('span', `${number}${isWhite ? '.' : ' \u2026'}`, 'faint'), move);
    return step;
  }));
  at('replay-title').textContent = `Game ${found.game}: ${found.white} \u2013 ${found.black} ${found.result}, ${found.termination}${found.detail ? ` (${found.detail})` : ''}`;
  at('replay-opening').textContent = found.opening ?? '';
  go(one.at);
  at('replay').focus();
  at('replay').scrollIntoView({ block: 'nearest' });
}

function points() {
  const first = one.fen.split(' ')[1] === 'w' ? 0 : 1;
  return one.plies.flatMap((ply, place) => {
    const white = (place + first) % 2 === 0;
    const value = ply.mate !== null ? Math.sign(ply.mate) * 10000 : ply.cp;
    return value === null ? [] : [{ ply: place + 1, white, cp: white ? value : -value }];
  });
}

function go(place) {
  if (!one) return;
  one.at = Math.max(0, Math.min(one.plies.length, place));
  const ply = one.plies[one.at - 1];
  fill(at('replay-board'), [board({ fen: ply?.fen ?? one.fen, last: ply?.uci }, flipped)]);
  fill(at('replay-evals'), [evaluation(points(), one.at)]);
  const score = !ply || ply.is_book ? 'book' : ply.mate !== null ? `#${ply.mate}` : ply.cp !== null ? signed(ply.cp / 100, 2) : '\u2013';
  const parts = ply ? [`ply ${one.at} of ${one.plies.length}`, ply.san, score, ply.depth !== null ? `depth ${ply.depth}` : '', ply.ms !== null ? `${(ply.ms / 1000).toFixed(3)} s` : ''] : ['start'];
  at('replay-ply').textContent = parts.filter(Boolean).join(' \u00b7 ');
  const moves = at('replay-moves').querySelectorAll('.move');
  for (const move of moves) move.removeAttribute('aria-current');
  const now = moves[one.at - 1];
  if (now) {
    now.setAttribute('aria-current', 'true');
    const list = at('replay-moves');
    if (now.offsetTop < list.scrollTop || now.offsetTop > list.scrollTop + list.clientHeight - 30) list.scrollTop = now.offsetTop - list.clientHeight / 2;
  }
}

const KEYS = { ArrowLeft: () => go(one.at - 1), ArrowRight: () => go(one.at + 1), Home: () => go(0), End: () => go(one.plies.length), f: () => flip() };

function flip() {
  flipped = !flipped;
  go(one.at);
}

async function pgn() {
  const text = await (await ask(api(of, `/games/${one.game}/pgn`))).text();
  const link = element('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/x-chess-pgn' }));
  link.download = `game-${one.game}.pgn`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

export function begin() {
  for (const name of FILTERS) {
    at(`game-${name}`).addEventListener('input', () => {
      if (name === 'player') at('game-result').value = '';
      page = 0;
      games(of).catch(failed);
    });
  }
  at('games-filter').addEventListener('submit', (event) => event.preventDefault());
  at('games-before').addEventListener('click', () => {
    page = Math.max(0, page - 1);
    games(of).catch(failed);
  });
  at('games-after').addEventListener('click', () => {
    page += 1;
    games(of).catch(failed);
  });
  at('replay').addEventListener('keydown', (event) => {
    if (!one || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  for (const [id, act] of [['replay-first', 'Home'], ['replay-back', 'ArrowLeft'], ['replay-forward', 'ArrowRight'], ['replay-last', 'End'], ['replay-flip', 'f']]) {
    at(id).addEventListener('click', () => one && KEYS[act]());
  }
  at('replay-pgn').addEventListener('click', () => one && pgn().catch(failed));
}
