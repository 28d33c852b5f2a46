// The dashboard: its pages, and the list of runs. The address after # says which page.
import { failed, json, notice, takeToken } from './api.js';
import { begin, form, queue } from './queue.js';
import { begin as beginGames } from './games.js';
import { begin as beginRun, close, open, redraw, refresh, repaint, shownRun } from './run.js';
import { begin as beginMore, compare, progression } from './more.js';
import { at, date, element, elo, fill, many, phone, result, signed, tick, verdictOf } from './view.js';

const LIST_EVERY = 3000;
const REFRESH_EVERY = 5000;

let page = 0;
const picked = new Set(); // runs to compare
const lived = new Set(); // runs that were live

// The list of runs.

function row(run) {
  const line = element('tr');
  line.dataset.key = run.id;
  const name = element('td', '', 'name bare');
  const pick = element('input');
  pick.type = 'checkbox';
  pick.checked = picked.has(run.id);
  pick.dataset.of = run.id;
  pick.setAttribute('aria-label', `compare ${run.id}`);
  pick.addEventListener('change', () => choose(run.id, pick.checked));
  name.append(pick, ' ');
  const link = element('a', run.id);
  link.href = `#/run/${encodeURIComponent(run.id)}`;
  name.append(link);
  if (run.title) name.append(element('div', run.title));
  const state = element('td', run.status ? run.status.phase : run.state, 'short');
  if (run.state === 'live') state.classList.add('live');
  const verdict = verdictOf(run);
  // Of two players the reason is short, and the figures beside it are the result.
  const ending = run.players.length > 2 ? result(run) : run.stopped_by;
  const end = run.state === 'over' && !verdict ? ending ?? '' : '';
  const llr = run.llr !== null && !verdict ? `LLR ${signed(run.llr, 2)}` : '';
  const players = run.labels.slice(0, 4).join(', ') + (run.labels.length > 4 ? ` and ${run.labels.length - 4} more` : '');
  line.append(
    name,
    state,
    element('td', verdict || [end, llr].filter(Boolean).join(', '), end ? 'name' : `short ${verdict.toLowerCase()}`),
    element('td', run.players.length === 2 ? elo(run) : '', 'number'),
    element('td', run.pairs, 'number'),
    element('td', run.limit, 'short'),
    element('td', players, 'name'),
    element('td', date(run.date), 'date'),
  );
  return line;
}

// Two runs are compared: the choice of a third drops the first.
function choose(id, is) {
  if (is) picked.add(id);
  else picked.delete(id);
  if (picked.size > 2) picked.delete([...picked][0]);
  for (const box of document.querySelectorAll('#rows input')) box.checked = picked.has(box.dataset.of);
  at('compare-go').disabled = picked.size !== 2;
}

// Tells of runs that were live at the last look.
function ended(runs) {
  for (const run of runs) {
    if (run.state === 'live') lived.add(run.id);
    else if (lived.delete(run.id)) tell(run);
  }
}

function tell(run) {
  const text = `${run.title ?? run.labels.slice(0, 2).join(' against ')}: ${result(run) || run.state}`;
  if (at('notify').checked && 'Notification' in window && Notification.permission === 'granted') {
    const shown = new Notification('Quintain', { body: text, tag: run.id });
    shown.onclick = () => {
      window.focus();
      location.hash = `#/run/${encodeURIComponent(run.id)}`;
    };
  }
  at('ended').textContent = `Ended: ${text}`;
}

async function list() {
  const query = new URLSearchParams({ page, q: at('q').value, state: at('state').value, sort: at('sort').value, ascending: at('ascending').checked });
  const found = await json(`/api/runs?${query}`);
  const pages = Math.max(1, Math.ceil(found.total / found.size));
  if (page >= pages) {
    page = pages - 1;
    return;
  }
  fill(at('rows'), found.runs.map(row));
  for (const box of document.querySelectorAll('#rows input')) box.checked = picked.has(box.dataset.of);
  ended(found.runs);
  at('count').textContent = found.total === found.stored ? many(found.total, 'run') : `${found.total} of ${many(found.stored, 'run')}`;
  at('empty').hidden = found.stored > 0;
  at('page').textContent = `page ${page + 1} of ${pages}`;
  at('before').disabled = page === 0;
  at('after').disabled = page + 1 >= pages;
  notice('');
}

async function machine() {
  const { version, machine: now } = await json('/api/info');
  const parts = [`Quintain ${version}`];
  if (now.cpus) parts.push(many(now.cpus, 'CPU'));
  if (now.load) parts.push(`load ${now.load.map((part) => part.toFixed(2)).join(' ')}`);
  if (now.available) parts.push(`${(now.available / 2 ** 30).toFixed(1)} GiB of memory free`);
  at('machine').textContent = parts.join(' · ');
}

// The pages.

const PAGES = { '': 'list', queue: 'queue', new: 'new', progress: 'progress', compare: 'compare', run: 'run' };

function words() {
  try {
    return location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  } catch {
    notice('there is no page at this address');
    return [''];
  }
}

function route() {
  takeToken();
  close();
  const [name, ...rest] = words();
  const shown = PAGES[name] ?? 'list';
  for (const id of Object.values(PAGES)) at(id).hidden = id !== shown;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.page === shown) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (shown === 'list') list().catch(failed);
  else if (shown === 'queue') queue().catch(failed);
  else if (shown === 'new') form().catch(failed);
  else if (shown === 'progress') progression().catch(failed);
  else if (shown === 'compare') compare(rest[0], rest[1]).catch(failed);
  else open(rest[0]);
}

function every(ms, work) {
  setInterval(() => {
    if (!document.hidden || at('notify').checked) Promise.resolve(work()).catch(failed);
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
at('compare-go').addEventListener('click', () => {
  location.hash = `#/compare/${[...picked].map(encodeURIComponent).join('/')}`;
});
at('notify').addEventListener('change', async () => {
  if (!at('notify').checked) return;
  if (!('Notification' in window)) notice('this browser allows notifications only over https or from localhost');
  else if (await Notification.requestPermission() !== 'granted') notice('the browser blocks notifications; allow them for this page in its settings');
  else return;
  at('notify').checked = false;
});
phone.addEventListener('change', () => {
  repaint().catch(failed);
  if (!at('progress').hidden) progression().catch(failed);
  if (!at('compare').hidden) route();
});
window.addEventListener('hashchange', () => {
  notice('');
  route();
});
begin();
beginRun();
beginGames();
beginMore();
every(LIST_EVERY, () => (at('list').hidden ? undefined : list()));
every(LIST_EVERY, () => (at('queue').hidden ? undefined : queue()));
// Other pages, and parts of the list without the newest runs, still tell which runs have ended.
every(2 * LIST_EVERY, async () => {
  if (at('notify').checked) ended((await json('/api/runs')).runs);
});
every(10000, machine);
every(REFRESH_EVERY, () => (shownRun()?.live ? refresh(shownRun().id, shownRun().abort.signal) : undefined));
every(100, () => {
  redraw();
  tick();
});
route();
machine().catch(failed);
