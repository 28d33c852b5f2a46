// The dashboard: a list of runs, and one run. The address after # says which; the token came with it once and stays in this tab.
import { at, clock, date, element, elo, facts, fill, game, signed, tick } from './view.js';

const TOKEN = 'quintain-token';
const LIST_EVERY = 3000;
const PICTURES_EVERY = 5000;
const PICTURES = ['llr', 'elo', 'tune'];

let page = 0;
let shown = null; // { id, abort, boards, pictures }

function takeToken() {
  const found = /^#token=([A-Za-z0-9._-]+)$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(TOKEN, found[1]);
  history.replaceState(null, '', '#/');
}

function headers() {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { 'X-Quintain-Token': token } : {};
}

function notice(text) {
  at('notice').textContent = text;
  at('notice').hidden = !text;
}

async function ask(path, more = {}) {
  const response = await fetch(path, { headers: headers(), credentials: 'omit', cache: 'no-store', ...more });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const error = new Error(said.error ?? `status ${response.status}`);
  error.status = response.status;
  throw error;
}

const api = (id, what = '') => `/api/runs/${encodeURIComponent(id)}${what}`;

function failed(error) {
  if (error.name === 'AbortError') return;
  notice(error instanceof TypeError ? 'quintain serve does not answer; is it still running?' : error.message);
}

// The list of runs.

function row(run) {
  const line = element('tr');
  const name = element('td', '', 'name');
  const link = element('a', run.id);
  link.href = `#/run/${encodeURIComponent(run.id)}`;
  name.append(link);
  if (run.title) name.append(element('div', run.title));
  const state = element('td', run.status ? run.status.phase : run.state, 'short');
  if (run.state === 'live') state.classList.add('live');
  const verdict = run.verdict === 'H0' || run.verdict === 'H1' ? run.verdict : '';
  const open = run.llr !== null && !verdict ? `LLR ${signed(run.llr, 2)}` : '';
  const players = run.players.slice(0, 4).join(', ') + (run.players.length > 4 ? ` and ${run.players.length - 4} more` : '');
  line.append(
    name,
    state,
    element('td', verdict || open, `short ${verdict.toLowerCase()}`),
    element('td', run.players.length === 2 ? elo(run) : '', 'number'),
    element('td', run.pairs, 'number'),
    element('td', run.limit, 'short'),
    element('td', players, 'name'),
    element('td', date(run.date), 'date'),
  );
  return line;
}

async function list() {
  const query = new URLSearchParams({ page, q: at('q').value, state: at('state').value, sort: at('sort').value, ascending: at('ascending').checked });
  const found = await (await ask(`/api/runs?${query}`)).json();
  const pages = Math.max(1, Math.ceil(found.total / found.size));
  if (page >= pages) {
    page = pages - 1;
    return;
  }
  fill(at('rows'), found.runs.map(row));
  at('count').textContent = found.total === found.stored ? `${found.total} runs` : `${found.total} of ${found.stored} runs`;
  at('page').textContent = `page ${page + 1} of ${pages}`;
  at('before').disabled = page === 0;
  at('after').disabled = page + 1 >= pages;
  notice('');
}

async function machine() {
  const { version, machine: now } = await (await ask('/api/info')).json();
  const parts = [`Quintain ${version}`];
  if (now.cpus) parts.push(`${now.cpus} CPUs`);
  if (now.load) parts.push(`load ${now.load.map((part) => part.toFixed(2)).join(' ')}`);
  if (now.available) parts.push(`${(now.available / 2 ** 30).toFixed(1)} GiB of memory free`);
  at('machine').textContent = parts.join(' · ');
}

// One run.

function figures(now) {
  const parts = [];
  if (Number.isFinite(now.llr)) parts.push(`LLR ${signed(now.llr, 2)} (${signed(now.llr_lower, 2)}, ${signed(now.llr_upper, 2)})`);
  if (elo(now)) parts.push(`Elo ${elo(now)}`);
  if (Number.isFinite(now.pairs)) parts.push(`${now.pairs} pairs`);
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
      element('td', one.name, 'name'), element('td', one.machine ?? '\u2013'), number(one.slots),
      number(one.nps), number(one.scale?.toFixed(6)), number(one.games), number(one.pairs),
      number(signed(one.score_z)), number(one.time_losses), number(one.voided), number(one.failures), number(one.lost),
      element('td', one.state ?? '\u2013'),
    );
    return row;
  }));
}

function status(now) {
  at('status').textContent = now ? `${now.phase}, ${now.playing} of ${now.concurrency} games are being played` : '';
  if (now && document.activeElement !== at('games')) at('games').value = now.concurrency;
}

function lines(texts) {
  at('happened').hidden = texts.length === 0;
  fill(at('lines'), texts.slice(-200).map((text) => element('li', text)));
}

function boards() {
  const now = performance.now();
  for (const [number, one] of shown.boards) if (one.result && now - one.seen > 3000) shown.boards.delete(number);
  at('playing').hidden = shown.boards.size === 0;
  fill(at('boards'), [...shown.boards.values()].sort((a, b) => a.game - b.game).slice(0, 64).map(game));
}

function take(kind, value) {
  if (kind === 'snapshot') {
    if (value.progress) figures(value.progress);
    status(value.status);
    shown.lines = value.lines;
    lines(shown.lines);
    shown.boards = new Map(value.boards.map((one) => [one.game, { ...one, seen: performance.now() }]));
    shown.dirty = true;
  } else if (kind === 'progress') figures(value);
  else if (kind === 'status') status(value);
  else if (kind === 'line') {
    shown.lines.push(value);
    lines(shown.lines);
  } else if (kind === 'board') {
    shown.boards.set(value.game, { ...value, seen: performance.now() });
    shown.dirty = true;
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

async function picture(id, name, signal) {
  try {
    const blob = await (await ask(api(id, `/${name}.svg`), { signal })).blob();
    if (at(name).src) URL.revokeObjectURL(at(name).src);
    at(name).src = URL.createObjectURL(blob);
    at(name).hidden = false;
  } catch (error) {
    if (error.name === 'AbortError') return;
    at(name).hidden = true;
  }
}

function pictures(id, signal) {
  return Promise.all(PICTURES.map((name) => picture(id, name, signal)));
}

function player(one) {
  const line = element('tr');
  const error = Number.isFinite(one.rating_error) ? ` ± ${one.rating_error.toFixed(1)}` : '';
  line.append(element('td', one.name, 'name'), element('td', signed(one.rating) + error, 'number'));
  const failures = (one.crashes ?? 0) + (one.stalls ?? 0);
  for (const value of [one.games, one.wins, one.draws, one.losses, one.time_losses, failures, one.illegal_moves]) line.append(element('td', value, 'number'));
  line.append(element('td', one.limit));
  return line;
}

function about({ run, summary, plan, crashes }) {
  const title = run.players.length === 2 ? `${run.players[0]} against ${run.players[1]}` : run.name;
  at('title').textContent = run.title ? `${run.title}: ${title}` : title;
  const verdict = run.verdict === 'H0' || run.verdict === 'H1' ? `${run.verdict} accepted` : run.stopped_by;
  const words = [run.id, run.status ? run.status.phase : run.state, verdict, run.limit, date(run.date)];
  at('about').textContent = [...new Set(words)].filter(Boolean).join(' · ');
  if (run.state !== 'live') figures(summary ?? run);
  const players = run.state === 'live' ? [] : (summary?.players ?? []);
  at('players').hidden = players.length === 0;
  fill(at('player-rows'), players.map(player));
  if (run.state !== 'live') fleet(summary?.workers ?? []);
  at('failed').hidden = crashes.length === 0;
  fill(at('crashes'), crashes.map((name) => element('li', name)));
  const test = plan?.test ?? (summary?.model ? summary : null);
  const computer = plan?.machine ?? summary?.machine;
  facts(at('settings'), [
    ['Name', run.name],
    [run.note ? 'Note' : 'Change', run.title],
    ['Format', run.format],
    ['Players', run.players.join(', ')],
    ['Test', test ? `[${test.elo0}, ${test.elo1}] ${test.model}, alpha ${test.alpha}, beta ${test.beta}` : ''],
    ['Limit', run.limit],
    ['Games at once', plan?.concurrency ?? summary?.concurrency],
    ['Seed', plan?.seed ?? summary?.seed],
    ['Took', summary?.seconds ? clock(summary.seconds * 1000) : ''],
    ['Machine', computer ? `${computer.cpu}, ${computer.cores} cores, ${computer.os}` : ''],
  ]);
}

async function watch(id, signal) {
  while (!signal.aborted) {
    const found = await (await ask(api(id), { signal })).json();
    about(found);
    lines(found.lines ?? []);
    const live = found.run.state === 'live';
    at('steering').hidden = !live;
    notice('');
    shown.live = live;
    const drawn = pictures(id, signal);
    if (live) await stream(id, signal);
    await drawn;
    shown.boards.clear();
    shown.dirty = true;
    await new Promise((done) => setTimeout(done, live ? 500 : LIST_EVERY));
  }
}

async function steer(command) {
  if (!shown) return;
  if (command === 'stop' && !confirm('Let running games finish, then end this run?')) return;
  const games = command === 'concurrency' ? `?games=${encodeURIComponent(at('games').value)}` : '';
  try {
    status(await (await ask(api(shown.id, `/${command}${games}`), { method: 'POST' })).json());
    notice('');
  } catch (error) {
    failed(error);
  }
}

function route() {
  takeToken();
  if (shown) shown.abort.abort();
  shown = null;
  let id = null;
  try {
    id = location.hash.startsWith('#/run/') ? decodeURIComponent(location.hash.slice(6)) : null;
  } catch {
    notice('this address names no run');
  }
  at('list').hidden = id !== null;
  at('run').hidden = id === null;
  if (id === null) {
    list().catch(failed);
    return;
  }
  for (const part of ['title', 'about', 'figures', 'status']) at(part).textContent = '';
  for (const part of ['steering', 'playing', 'fleet', 'players', 'happened', 'failed', ...PICTURES]) at(part).hidden = true;
  const one = { id, abort: new AbortController(), boards: new Map(), lines: [], dirty: false, live: false };
  shown = one;
  const go = () => watch(id, one.abort.signal).catch((error) => {
    failed(error);
    if (!one.abort.signal.aborted && error.status !== 404) setTimeout(go, LIST_EVERY);
  });
  go();
}

function every(ms, work) {
  setInterval(() => {
    if (!document.hidden) Promise.resolve(work()).catch(failed);
  }, ms);
}

for (const id of ['q', 'state', 'sort', 'ascending']) {
  at(id).addEventListener('input', () => {
    page = 0;
    list().catch(failed);
  });
}
at('filter').addEventListener('submit', (event) => event.preventDefault());
at('before').addEventListener('click', () => {
  page = Math.max(0, page - 1);
  list().catch(failed);
});
at('after').addEventListener('click', () => {
  page += 1;
  list().catch(failed);
});
at('steering').addEventListener('click', (event) => {
  const command = event.target.dataset?.command;
  if (command) steer(command);
});
window.addEventListener('hashchange', route);
every(LIST_EVERY, () => (shown ? undefined : list()));
every(10000, machine);
every(PICTURES_EVERY, () => (shown?.live ? pictures(shown.id, shown.abort.signal) : undefined));
every(100, () => {
  if (shown && (shown.dirty || [...shown.boards.values()].some((one) => one.result))) {
    shown.dirty = false;
    boards();
  }
  tick();
});
route();
machine().catch(failed);
