// One run: its figures, pictures, games in progress, documents; and the commands that steer it.
import { api, ask, failed, hasToken, json, notice, post } from './api.js';
import { games, resetGames } from './games.js';
import { at, clock, date, element, elo, facts, fill, game, many, phone, result, signed } from './view.js';

const LOOK_EVERY = 3000;
const PICTURES = ['llr', 'elo', 'tune', 'moves'];
const MOST_LINES = 5000; // as many as the server keeps
const MOST_EVALS = 2000;

let shown = null; // { id, abort, boards, evals, lines, dirty, live }

export const shownRun = () => shown;

function figures(now) {
  const parts = [];
  if (Number.isFinite(now.llr)) parts.push(`LLR ${signed(now.llr, 2)} (${signed(now.llr_lower, 2)}, ${signed(now.llr_upper, 2)})`);
  if (elo(now)) parts.push(`Elo ${elo(now)}`);
  if (Number.isFinite(now.pairs)) parts.push(many(now.pairs, 'pair'));
  // A tuning's sides are one engine: its own lines say what it has found.
  if (now.ptnml && Number.isFinite(now.score) && !now.tune) parts.push(`ptnml ${now.ptnml.join(', ')}`);
  if (Number.isFinite(now.pairs_per_minute)) parts.push(`${now.pairs_per_minute.toFixed(1)} pairs/min`);
  const text = now.tune ? [...now.shown?.lines ?? [], ''].join('\n') : '';
  at('figures').textContent = text + parts.join('   ');
  fleet(now.workers ?? []);
}

function fleet(workers) {
  at('fleet').hidden = workers.length === 0;
  fill(at('worker-rows'), workers.map((one) => {
    const row = element('tr');
    const number = (value) => element('td', value ?? '\u2013', 'number');
    row.append(
      element('td', one.name, 'name bare'), element('td', one.machine ?? '\u2013'), number(one.slots),
      number(one.nps), number(one.scale?.toFixed(6)), number(one.games), number(one.pairs),
      number(signed(one.score_z)), number(one.time_losses), number(one.voided), number(one.failures), number(one.lost),
      number(one.verified), element('td', one.state ?? '\u2013'),
    );
    return row;
  }));
}

function status(now) {
  at('status').textContent = now ? `${now.phase}, ${now.playing} of ${many(now.concurrency, 'game')} ${now.playing === 1 ? 'is' : 'are'} being played` : '';
  for (const [command, phase] of [['pause', 'running'], ['resume', 'paused']]) {
    at('steering').querySelector(`[data-command=${command}]`).disabled = Boolean(now) && now.phase !== phase;
  }
  if (now && shown) shown.concurrency = now.concurrency;
  if (now && document.activeElement !== at('games')) offer(at('games'), now.concurrency);
}

function put(box, value) {
  box.value = value;
  box.dataset.told = box.value; // as the browser writes it
}

// Shows the server's value, unless the user has changed the one shown before.
function offer(box, value) {
  if (box.value === (box.dataset.told ?? '')) put(box, value);
  else box.dataset.told = value;
}

function lines(texts, lost = 0) {
  at('happened').hidden = texts.length === 0;
  at('lines').start = lost + 1;
  fill(at('lines'), texts.map((text) => element('li', text)));
  at('lines').scrollTop = at('lines').scrollHeight;
}

function addLine(text) {
  shown.lines.push(text);
  if (shown.lines.length > MOST_LINES) {
    shown.lines.shift();
    lines(shown.lines, shown.lost += 1);
    return;
  }
  const list = at('lines');
  const follows = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  at('happened').hidden = false;
  list.append(element('li', text));
  if (follows) list.scrollTop = list.scrollHeight;
}

// All games in progress; those that are over fill the seats that are free, for a moment.
function boards() {
  const now = performance.now();
  const all = [...shown.boards.values()].sort((a, b) => a.game - b.game);
  let free = Math.max(0, shown.concurrency - all.filter((one) => !one.result).length);
  for (const one of all.filter((board) => board.result).reverse()) {
    if (free > 0 && now - one.seen <= 3000) free -= 1;
    else {
      shown.boards.delete(one.game);
      shown.evals.delete(one.game);
    }
  }
  at('playing').hidden = shown.boards.size === 0;
  fill(at('boards'), all.filter((one) => shown.boards.has(one.game)).map((one) => game(one, shown.evals.get(one.game) ?? [])));
}

// The last score of each side, from White's view.
function score(board) {
  const white = board.turn === 'b'; // who has moved
  const said = board.said[white ? 0 : 1];
  if (!said || !board.plies) return null;
  const value = said.mate !== null ? Math.sign(said.mate) * 10000 : said.cp;
  return value === null ? null : { ply: board.plies, white, cp: white ? value : -value };
}

function setBoard(board) {
  shown.boards.set(board.game, { ...board, seen: performance.now() });
  const known = shown.evals.get(board.game) ?? board.evals ?? [];
  const last = score(board);
  if (last && (known.at(-1)?.ply ?? 0) < last.ply && known.length < MOST_EVALS) known.push(last);
  shown.evals.set(board.game, known);
  shown.dirty = true;
}

export function redraw() {
  if (shown && (shown.dirty || [...shown.boards.values()].some((one) => one.result))) {
    shown.dirty = false;
    boards();
  }
}

function take(kind, value) {
  if (kind === 'snapshot') {
    if (value.progress) figures(value.progress);
    status(value.status);
    shown.lines = value.lines;
    lines(shown.lines, shown.lost = value.lost);
    shown.boards = new Map();
    shown.evals = new Map();
    for (const board of value.boards) setBoard(board);
    shown.dirty = true;
  } else if (kind === 'progress') figures(value);
  else if (kind === 'status') status(value);
  else if (kind === 'line') {
    addLine(value);
  } else if (kind === 'board') {
    setBoard(value);
  }
}

// Server-sent events by fetch: that can send the token in a header, which an EventSource cannot.
async function stream(id, signal) {
  const response = await ask(api(id, '/events'), { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    let end = held.indexOf('\n\n');
    for (; end >= 0; end = held.indexOf('\n\n')) {
      const event = Object.fromEntries(held.slice(0, end).split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
      held = held.slice(end + 2);
      if (event.event === 'gone') return;
      if (event.data !== undefined) take(event.event, JSON.parse(event.data));
    }
  }
}

// Draws a picture of a run into an `img`.
export async function draw(image, id, name, signal) {
  const blob = await (await ask(api(id, `/${name}.svg?narrow=${phone.matches}`), { signal })).blob();
  if (image.src) URL.revokeObjectURL(image.src);
  image.src = URL.createObjectURL(blob);
}

async function picture(id, name, signal) {
  try {
    await draw(at(name), id, name, signal);
    at(name).hidden = false;
  } catch (error) {
    if (error.name === 'AbortError') return;
    at(name).hidden = true;
  }
}

const pictures = (id, signal) => Promise.all(shown.pictures.map((name) => picture(id, name, signal)));

// Pictures that a run of this kind has.
function kinds(run, files) {
  if (run.state !== 'live' && !hasGames(files)) return [];
  const isTuning = run.format === 'tune';
  const has = { llr: Number.isFinite(run.elo0), elo: run.players.length === 2, tune: isTuning, moves: isTuning };
  return PICTURES.filter((name) => has[name]);
}

function player(one) {
  const line = element('tr');
  const error = Number.isFinite(one.rating_error) ? ` ± ${one.rating_error.toFixed(1)}` : '';
  line.append(element('td', one.name, 'name bare'), element('td', signed(one.rating) + error, 'number'));
  const failures = (one.crashes ?? 0) + (one.stalls ?? 0);
  for (const value of [one.games, one.wins, one.draws, one.losses, one.time_losses, failures, one.illegal_moves]) line.append(element('td', value, 'number'));
  line.append(element('td', one.limit));
  return line;
}

function about({ run, summary, plan, crashes, files, notes, written, key }) {
  shown.key = key;
  shown.pictures = kinds(run, files ?? []);
  const title = run.players.length === 2 ? run.labels.join(' against ') : `${run.name}: ${run.format} of ${run.players.length} players`;
  at('title').textContent = run.title ? `${run.title}: ${title}` : title;
  const words = [run.id, run.status ? run.status.phase : run.state, result(run), run.limit, date(run.date)];
  at('about').textContent = [...new Set(words)].filter(Boolean).join(' · ');
  if (run.state !== 'live') {
    figures(summary ?? run);
    status(null);
  }
  const players = run.state === 'live' ? [] : (summary?.players ?? []);
  at('players').hidden = players.length === 0;
  fill(at('player-rows'), players.map(player));
  if (run.state !== 'live') fleet(summary?.workers ?? []);
  at('failed').hidden = crashes.length === 0;
  fill(at('crashes'), crashes.map(crash));
  fill(at('downloads'), links(run.id, files ?? []));
  offer(at('notes'), notes ?? '');
  at('explain-part').hidden = !hasGames(files ?? []);
  at('diff-part').hidden = (written?.players ?? []).slice(0, 2).filter((one) => one.commit || one.tree).length < 2;
  // What the queue resumes: a run of which games are left.
  const goesOn = run.state === 'interrupted' || ['out-of-time', 'broken'].includes(run.stopped_by);
  at('restart').hidden = !goesOn || !plan;
  at('steering').hidden = run.state !== 'live' && at('restart').hidden;
  for (const part of at('steering').querySelectorAll('[data-live]')) part.hidden = run.state !== 'live';
  const test = plan?.test ?? (summary?.model ? summary : null);
  const computer = plan?.machine ?? summary?.machine;
  const isAtHub = plan?.at_hub ?? summary?.at_hub;
  const took = summary?.seconds_total ?? summary?.seconds;
  facts(at('settings'), [
    ['Name', run.name],
    [run.note ? 'Note' : 'Change', run.title],
    ['Format', test ? 'SPRT' : run.format],
    ['Players', run.players.join(', ')],
    ...options(written?.players ?? summary?.players),
    ['Test', test ? `[${test.elo0}, ${test.elo1}] ${test.model}, alpha ${test.alpha}, beta ${test.beta}` : ''],
    ['Chain', chain(run.id, written?.chain)],
    ['Limit', run.limit],
    ['Book', book(written?.book) || summary?.book],
    ['Adjudication', written?.rules ? adjudication(written.rules) : ''],
    ['Concurrency', isAtHub ? 'by the workers of a hub' : plan?.concurrency ?? summary?.concurrency],
    ['Seed', plan?.seed ?? summary?.seed],
    ['Took', took ? clock(took * 1000) : ''],
    ...sources(written),
    [isAtHub ? 'Coordinator' : 'Machine', computer ? `${computer.cpu}, ${computer.cores} cores, ${computer.os}` : ''],
  ]);
}

// Waits until a run that is not live changes.
async function quiet(id, before, signal) {
  const same = ({ run }) => run.state === before.run.state && run.pairs === before.run.pairs && run.verdict === before.run.verdict;
  for (;;) {
    await new Promise((done) => setTimeout(done, LOOK_EVERY));
    if (signal.aborted) return;
    if (!document.hidden && !same(await json(api(id), { signal }))) return;
  }
}

export const repaint = async () => (shown ? pictures(shown.id, shown.abort.signal) : undefined);

// What grows with the journal of a live run.
export const refresh = (id, signal) => Promise.all([pictures(id, signal), more(id, signal), games(id)]);

async function watch(id, signal) {
  while (!signal.aborted) {
    const found = await json(api(id), { signal });
    about(found);
    const live = found.run.state === 'live';
    // The lines of a run that has just ended stay.
    if (live || shown.lines.length === 0) lines(shown.lines = found.lines ?? []);
    notice('');
    shown.live = live;
    const drawn = refresh(id, signal);
    if (live) await stream(id, signal);
    await drawn;
    if (signal.aborted) return;
    shown.boards.clear();
    shown.dirty = true;
    if (!live) await quiet(id, found, signal);
    else await new Promise((done) => setTimeout(done, 500));
  }
}

// Documents and files of the run.

function link(href, text, download) {
  const one = element('a', text);
  // A link carries no header: where reading needs the token, the run's own key stands in its address.
  one.href = shown.key ? `${href}?key=${shown.key}` : href;
  if (download) one.download = '';
  else one.target = '_blank';
  return one;
}

function links(id, files) {
  const list = [
    link(api(id, '/report'), 'Report'), link(api(id, '/report.md'), 'Markdown'), ...files.map((name) => link(api(id, `/files/${name}`), name, true)),
  ];
  return hasGames(files) ? list : list.slice(2);
}

const hasGames = (files) => files.includes('games.jsonl') || files.includes('games.json.gz');

function crash({ game: number, files }) {
  const line = element('li', `game ${number}: `);
  for (const name of files) line.append(link(api(shown.id, `/crashes/${number}/${name}`), name), ' ');
  return line;
}

// The tests of a chain: those before link to their runs, those that follow are named.
function chain(id, { before = [], then = [] } = {}) {
  if (before.length + then.length === 0) return '';
  const box = element('span', `test ${before.length + 1} of ${before.length + 1 + then.length}`);
  before.forEach((run, place) => {
    const one = element('a', run);
    one.href = `#/run/${encodeURIComponent(run.includes('/') ? run : id.replace(/[^/]*$/, run))}`;
    box.append(place ? ', ' : '; after ', one);
  });
  const next = ({ name, tc, nodes, bounds }) => [name, tc ?? (nodes ? `nodes=${nodes}` : ''), bounds ? `[${bounds.join(', ')}]` : ''].filter(Boolean).join(' ');
  if (then.length) box.append(`; if it passes, then ${then.map(next).join(', then ')}`);
  return box;
}

// UCI options that the plan sets for a player: `[["Hash", "2"]]`.
const options = (players = []) => players.slice(0, 8).map((one) => [`Options of ${one.name}`, (one.options ?? []).map((pair) => pair.join('=')).join(', ')]);

function book({ source, path, openings, order } = {}) {
  if (!source) return '';
  const name = path ? path.split(/[\\/]/).pop() : source;
  return `${name}, ${openings} openings, ${order === 'random' ? 'shuffled' : 'in its order'}`;
}

function adjudication({ draw, resign, max_plies: plies, syzygy }) {
  const rules = [draw && `draw ${draw}`, resign && `resign ${resign}`, plies && `draw at ${plies} plies`, syzygy && `tables in ${syzygy}`];
  return rules.filter(Boolean).join('; ') || 'none';
}

function sources(written) {
  const found = (written?.players ?? []).filter((one) => one.commit).slice(0, 4);
  return found.map((one) => [one.name, `${one.commit.slice(0, 12)}${one.dirty ? ' with changes' : ''}${one.subject ? `: ${one.subject}` : ''}`]);
}

// What the journal tells besides: the block, the table of more than two players, that of a tuning.
async function more(id, signal) {
  let told = {};
  try {
    told = await json(api(id, '/more'), { signal });
  } catch (error) {
    if (error.name === 'AbortError') return;
  }
  at('stat-block').hidden = !told.block;
  at('block').textContent = told.block ?? '';
  at('block').dataset.commit = told.commit ?? '';
  field(told.table ?? [], told.rounds ?? []);
  tuned(told.tuned ?? { columns: [], rows: [] });
}

// The parameters of a tuning; # marks a column of numbers.
function tuned({ columns, rows }) {
  at('tuned').hidden = rows.length === 0;
  const kind = (place) => (columns[place].startsWith('#') ? 'number' : place === 0 ? 'name bare' : 'name');
  const row = (cells, tag) => cells.map((text, place) => element(tag, text, kind(place)));
  fill(at('tuned-heads'), row(columns.map((column) => column.replace(/^#/, '')), 'th'));
  fill(at('tuned-rows'), rows.map((cells) => {
    const line = element('tr');
    line.append(...row(cells, 'td'));
    return line;
  }));
}

function field(table, rounds) {
  at('field').hidden = table.length === 0;
  at('rounds-part').hidden = rounds.length === 0;
  const number = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '\u2013');
  fill(at('cross-heads'), ['', 'Player', ...table.map((_, place) => place + 1)].map((text, place) => element('th', text, place > 1 ? 'number' : '')));
  fill(at('field-rows'), table.map((one) => {
    const line = element('tr');
    const cells = [one.rank, one.name, one.elo.replace('-', '\u2212'), number(one.error, 1), one.games, number(one.points, 1) + (one.byes ? ` (${number(one.byes, 1)} by bye)` : ''), `${number((one.score ?? NaN) * 100, 1)} %`,
      `${one.wins}-${one.draws}-${one.losses}`, `${one.white}/${one.black}`, signed(one.performance, 0), one.faults];
    line.append(...cells.map((text, place) => element('td', text, place === 1 ? 'name bare' : place === 10 ? 'name' : 'number')));
    return line;
  }));
  fill(at('cross-rows'), table.map((one, place) => {
    const line = element('tr');
    line.append(element('td', place + 1, 'number'), element('td', one.name, 'name'));
    for (const met of one.met) line.append(element('td', met === null ? '\u2014' : met[1] ? `${met[0].toFixed(1)}/${met[1]}` : '', 'number'));
    return line;
  }));
  fill(at('rounds'), rounds.map((round) => {
    const line = element('li', undefined, 'round');
    line.append(element('h4', round.name), ...round.met.map(meeting));
    return line;
  }));
}

// Two players of a round, the one who advanced or leads in bold.
function meeting([first, won, second, lost, winner]) {
  const box = element('div', undefined, 'meeting');
  const bySeed = winner !== null && won === lost ? ' (by seed)' : '';
  const leads = (place) => (winner === null ? (place ? lost > won : won > lost) : winner === place);
  for (const [name, points, isFirst] of [[first, won, leads(0)], [second, lost, leads(1)]]) {
    const line = element('div', undefined, isFirst ? 'leads' : '');
    line.append(element('span', isFirst ? name + bySeed : name), element('span', points, 'number'));
    box.append(line);
  }
  return box;
}

async function text(what, into) {
  const box = at(into);
  box.textContent = 'computing ...';
  try {
    return await (await ask(api(shown.id, what))).text();
  } catch (error) {
    return error.message;
  }
}

async function openDetails(event) {
  if (!shown || !event.target.open || event.target.dataset.of === shown.id) return;
  const box = event.target;
  box.dataset.of = shown.id;
  if (box.id === 'explain-part') at('explain').textContent = await text('/explain', 'explain');
  else if (box.id === 'diff-part') {
    const said = await text('/diff', 'diff');
    const kind = (line) => (line.startsWith('+') ? 'plus' : line.startsWith('-') ? 'minus' : line.startsWith('@@') || line.startsWith('diff ') ? 'hunk' : '');
    fill(at('diff'), said.split('\n').map((line) => element('span', `${line}\n`, kind(line))));
  }
}

async function copy(event) {
  const said = event.target.dataset.copy === 'commit' ? at('block').dataset.commit : at('block').textContent;
  try {
    await navigator.clipboard.writeText(said);
    at('copied').textContent = 'copied';
  } catch {
    // Browsers give no clipboard to pages of other machines without https: select the text instead.
    getSelection().selectAllChildren(at('block'));
    at('copied').textContent = 'selected; copy it with Ctrl-C';
  }
}

async function restart() {
  try {
    const { id, daemon } = await (await post(api(shown.id, '/restart'))).json();
    notice(daemon ? '' : `entry ${id} of the queue resumes it, but no process plays the queue: start quintain serve --run or quintain queue run`);
    location.hash = '#/queue';
  } catch (error) {
    failed(error);
  }
}

async function keepNote() {
  const one = shown;
  const text = at('notes').value;
  try {
    await post(api(one.id, '/notes'), text);
    if (shown !== one) return;
    at('notes').dataset.told = text;
    at('noted').textContent = 'kept';
  } catch (error) {
    failed(error);
  }
}

async function steer(command) {
  if (!shown) return;
  if (command === 'restart') return restart();
  if (command === 'stop' && !confirm('Let running games finish, then end this run?')) return;
  const one = shown;
  const games = command === 'concurrency' ? `?games=${encodeURIComponent(at('games').value)}` : '';
  try {
    const now = await (await ask(api(one.id, `/${command}${games}`), { method: 'POST' })).json();
    if (shown !== one) return;
    if (games) put(at('games'), now.concurrency);
    status(now);
    notice('');
  } catch (error) {
    failed(error);
  }
}

export function close() {
  if (shown) shown.abort.abort();
  shown = null;
}

export function open(id) {
  for (const part of ['title', 'about', 'figures', 'status', 'copied', 'noted', 'explain', 'diff']) at(part).textContent = '';
  for (const part of ['steering', 'playing', 'fleet', 'players', 'happened', 'failed', 'stat-block', 'field', 'rounds-part', 'tuned', ...PICTURES]) at(part).hidden = true;
  for (const part of ['explain-part', 'diff-part']) {
    at(part).open = false;
    delete at(part).dataset.of;
  }
  for (const box of ['games', 'notes']) put(at(box), '');
  resetGames(id);
  at('note-keep').disabled = !hasToken();
  const one = { id, abort: new AbortController(), boards: new Map(), evals: new Map(), pictures: [], lines: [], lost: 0, concurrency: 1, dirty: false, live: false };
  shown = one;
  const go = () => watch(id, one.abort.signal).catch((error) => {
    failed(error);
    if (!one.abort.signal.aborted && error.status !== 404) setTimeout(go, LOOK_EVERY);
  });
  go();
}

export function begin() {
  at('steering').addEventListener('click', (event) => {
    const command = event.target.dataset?.command;
    if (command) steer(command);
  });
  at('games').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') steer('concurrency');
  });
  for (const box of ['explain-part', 'diff-part']) at(box).addEventListener('toggle', openDetails);
  for (const one of document.querySelectorAll('[data-copy]')) one.addEventListener('click', copy);
  at('note-keep').addEventListener('click', keepNote);
}
