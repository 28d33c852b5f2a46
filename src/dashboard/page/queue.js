// The queue, and the form of a new test.
import { ask, failed, json, notice, post, quoted, split } from './api.js';
import { at, button, element, fill } from './view.js';

let presets = [];

// The queue.

async function change(id, what, body) {
  try {
    const { after } = await (await post(`/api/queue/${id}/${what}`, body)).json();
    at('queue-said').textContent = after ? `Entry ${after} has begun, and continues before entry ${id}, unless that has a higher priority.` : '';
    notice('');
  } catch (error) {
    failed(error);
  }
  await queue().catch(failed);
}

function buttons(one) {
  const open = one.state === 'playing' || one.state === 'waiting';
  const again = one.state === 'stopped' || one.state === 'failed';
  const name = `entry ${one.id}`;
  const list = [];
  if (open) {
    list.push(button('\u25b2', `${name}: priority ${one.priority + 1}; stops a run of a lower one`, () => change(one.id, `up?priority=${one.priority + 1}`)));
    list.push(button('\u25bc', `${name}: priority ${one.priority - 1}`, () => change(one.id, `up?priority=${one.priority - 1}`)));
    list.push(button('First', `${name}: before all that wait`, () => change(one.id, 'up')));
  }
  if (again) list.push(button('Again', `${name}: let it wait again`, () => change(one.id, `up?priority=${one.priority}`)));
  if (one.state === 'waiting') {
    list.push(button('Note', `${name}: change its note`, () => {
      const note = prompt(`Note of entry ${one.id}`, one.title ?? '');
      if (note) change(one.id, 'note', note);
    }));
  }
  const playing = one.state === 'playing';
  list.push(button('Remove', playing ? `${name}: stop its run after the games being played` : `${name}: take it out`, () => {
    if (!playing || confirm(`Stop the run of entry ${one.id} after its games, and take it out?`)) change(one.id, 'rm');
  }));
  // Labels change with the priority; the focus is kept by these.
  for (const act of list) act.dataset.key = `${one.id} ${act.textContent}`;
  return list;
}

function row(one) {
  const line = element('tr');
  line.dataset.key = `entry ${one.id}`;
  line.dataset.entry = String(one.id);
  const title = element('td', one.title, 'name bare');
  for (const run of one.runs ?? []) {
    const link = element('a', run);
    // A tuning has its games in a folder of its own.
    link.href = `#/run/${encodeURIComponent(one.command === 'tune' ? `${run}/tune` : run)}`;
    const box = element('div');
    box.append(link);
    title.append(box);
  }
  if (one.error) title.append(element('div', one.error, 'h0'));
  const state = (one.results ?? []).length && one.state === 'done' ? one.results.join(', ') : [one.state, ...one.results ?? []].join(', ');
  const steps = one.plans > 1 ? ` (${one.plans} in turn)` : '';
  const acts = element('td', undefined, 'acts');
  acts.append(...buttons(one));
  if (one.state === 'playing' || one.state === 'waiting') draggable(line);
  line.append(
    element('td', one.id, 'number'),
    element('td', state, one.state === 'playing' ? 'short live' : 'short'),
    element('td', one.priority, 'number'),
    element('td', `${one.command ?? ''}${steps}`),
    title,
    acts,
  );
  return line;
}

// Rows are dragged: dropped on the upper half of another one, an entry comes before it.

let dragged = null; // number of the entry that is dragged

const lower = (event, line) => event.clientY > line.getBoundingClientRect().top + line.offsetHeight / 2;

function mark(line, event) {
  for (const one of document.querySelectorAll('#queue-rows tr')) one.classList.remove('target-before', 'target-after');
  if (line) line.classList.add(lower(event, line) ? 'target-after' : 'target-before');
}

function drop(line, event) {
  const rows = [...document.querySelectorAll('#queue-rows tr[draggable=true]')].filter((one) => one.dataset.entry !== dragged);
  const place = rows.indexOf(line) + (lower(event, line) ? 1 : 0);
  const moved = dragged;
  dragged = null;
  if (rows.includes(line)) change(moved, rows[place] ? `move?before=${rows[place].dataset.entry}` : 'move');
}

function draggable(line) {
  line.draggable = true;
  line.addEventListener('dragstart', (event) => {
    dragged = line.dataset.entry;
    line.classList.add('dragged');
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', `entry ${dragged}`);
  });
  line.addEventListener('dragend', () => {
    dragged = null;
    line.classList.remove('dragged');
    mark(null);
  });
  line.addEventListener('dragover', (event) => {
    if (dragged === null) return;
    event.preventDefault();
    mark(line, event);
  });
  line.addEventListener('drop', (event) => {
    event.preventDefault();
    if (dragged !== null) drop(line, event);
  });
}

export async function queue() {
  const found = await json('/api/queue');
  if (dragged !== null) return found; // its row would vanish
  const over = found.entries.filter((one) => one.state === 'done').reverse();
  const open = found.entries.filter((one) => one.state !== 'done');
  fill(at('queue-rows'), open.map(row));
  fill(at('over-rows'), over.slice(0, 100).map(row));
  at('queue-over').hidden = over.length === 0;
  at('queue-table').hidden = open.length === 0;
  at('queue-drag').hidden = document.querySelectorAll('#queue-rows tr[draggable=true]').length < 2;
  at('daemon').textContent = found.daemon
    ? (open.length ? 'A daemon plays this queue.' : 'Nothing waits. A daemon plays what you add.')
    : 'Nobody plays this queue: start `quintain serve --run` or `quintain queue run`.';
  return found;
}

// The form. Its fields become the words of `quintain queue add`, which checks them.

const FIELDS = [
  ['tc', 'tc'], ['nodes', 'nodes'], ['bounds', 'bounds'], ['book', 'book'], ['pairs', 'pairs'], ['max-pairs', 'max-pairs'],
  ['concurrency', 'concurrency'], ['note', 'note'], ['then', 'then'],
];

const field = (name) => at(`new-${name}`).value.trim();

function words() {
  const kind = field('kind');
  const list = [];
  const preset = presets.find((one) => one.file === field('preset'));
  list.push(kind);
  if (preset) list.push(preset.file);
  const engines = field('engines').split('\n').map((line) => line.trim()).filter(Boolean);
  if (kind === 'sprt') {
    if (field('new')) list.push('--new', field('new'));
    if (field('base')) list.push('--base', field('base'));
  } else if (kind === 'gauntlet') {
    if (field('new')) list.push('--hero', field('new'));
    for (const one of engines) list.push('--vs', one);
  } else if (kind === 'race') {
    if (field('base')) list.push('--base', field('base'));
    list.push(...engines);
  } else if (kind === 'tune') {
    if (field('new')) list.push('--engine', field('new'));
  } else list.push(...engines);
  if (kind === 'match' && field('format')) list.push('--format', field('format'));
  for (const [id, flag] of FIELDS) {
    if (field(id) && !at(`new-${id}`).closest('label').hidden) list.push(`--${flag}`, field(id));
  }
  list.push(...split(field('more')));
  return list;
}

function show() {
  const kind = field('kind');
  const hide = (id, hidden) => { at(`new-${id}`).closest('label').hidden = hidden; };
  hide('new', kind === 'match' || kind === 'race');
  hide('base', kind !== 'sprt' && kind !== 'race');
  hide('engines', kind === 'sprt' || kind === 'tune');
  hide('format', kind !== 'match');
  hide('bounds', kind !== 'sprt');
  hide('then', kind !== 'sprt');
  hide('pairs', kind === 'sprt');
  hide('max-pairs', kind !== 'sprt');
  at('new-new-label').textContent = { gauntlet: 'Hero', tune: 'Engine' }[kind] ?? 'New';
  try {
    at('new-line').textContent = ['quintain', 'queue', 'add', ...(Number(field('priority')) ? ['--priority', field('priority')] : []), ...words().map(quoted)].join(' ');
    at('new-said').textContent = '';
  } catch (error) {
    at('new-said').textContent = error.message;
  }
}

// Values of the preset stand in the fields as hints: an empty field keeps them.
function hint() {
  const preset = presets.find((one) => one.file === field('preset'));
  if (preset) at('new-kind').value = preset.command;
  const keys = preset?.keys ?? {};
  for (const [id, key] of [...FIELDS, ['new', 'new'], ['base', 'base'], ['format', 'format']]) {
    const input = at(`new-${id}`);
    const value = Array.isArray(keys[key]) ? keys[key].join(',') : keys[key];
    const hasLimit = key === 'tc' && ['nodes', 'depth', 'movetime'].some((limit) => keys[limit] ?? null);
    const usual = hasLimit ? '' : input.dataset.hint ?? '';
    if (input.tagName === 'INPUT') input.placeholder = value === undefined || value === null ? usual : String(value);
  }
  const players = (keys.players ?? []).map((one) => one.spec ?? one.name).filter(Boolean);
  at('new-engines').placeholder = players.length ? players.join('\n') : 'one engine a line';
  show();
}

export async function form() {
  const found = await json('/api/presets');
  presets = found.presets;
  const chosen = field('preset');
  const option = (value, text) => {
    const one = element('option', text);
    one.value = value;
    return one;
  };
  fill(at('new-preset'), [option('', 'none'), ...presets.map((one) => option(one.file, one.keys.note ? `${one.file}: ${one.keys.note}` : one.file))]);
  at('new-preset').value = presets.some((one) => one.file === chosen) ? chosen : '';
  fill(at('revisions'), ['.', ...found.revisions.map((name) => `git:${name}`)].map((name) => option(name)));
  fill(at('plan-files'), presets.filter((one) => one.command === 'sprt').map((one) => option(one.file.replace(/^.*\//, ''))));
  at('new-dir').textContent = found.dir;
  hint();
}

async function add(event) {
  event.preventDefault();
  const go = at('new-add');
  go.disabled = true;
  at('new-said').textContent = 'checking ...';
  try {
    const said = await (await ask('/api/queue', { method: 'POST', body: JSON.stringify({ words: words(), priority: Number(field('priority')) || 0 }) })).json();
    at('new-said').textContent = '';
    location.hash = '#/queue';
    notice('');
    at('queue-said').textContent = `Added: ${said.said}`;
  } catch (error) {
    at('new-said').textContent = error.message;
  } finally {
    go.disabled = false;
  }
}

export function begin() {
  at('new-form').addEventListener('submit', add);
  at('new-form').addEventListener('input', (event) => (event.target.id === 'new-preset' ? hint() : show()));
}
