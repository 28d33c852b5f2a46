// The dashboard in a real browser, without a library: headless Chromium over its debugging socket.
// usage: node dashboard.mjs CHROMIUM QUINTAIN FAKE_ENGINE FOLDER [SCREENSHOTS]
// Exits with 0 where every check holds; a page's console must stay without errors.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [chromium, quintain, fake, folder, screenshots] = process.argv.slice(2);
const children = [];
const start = (program, args, stdio, cwd) => {
  const child = spawn(program, args, { stdio, cwd });
  children.push(child);
  return child;
};
const finish = (code, why) => {
  if (why) console.error(`dashboard: ${why}`);
  for (const child of children) child.kill('SIGKILL');
  process.exit(code);
};
setTimeout(() => finish(1, 'it hangs'), 600_000);
process.on('unhandledRejection', (error) => finish(1, error.stack ?? error));
process.on('uncaughtException', (error) => finish(1, error.stack ?? error));

const firstMatch = (stream, pattern) => new Promise((found, missing) => {
  let text = '';
  stream.on('data', (part) => {
    text += part;
    const match = pattern.exec(text);
    if (match) found(match);
  });
  stream.on('end', () => missing(new Error(`no ${pattern} in: ${text}`)));
});

// A live run whose first engine has markup for a name, and stored runs.
const results = join(folder, 'results');
mkdirSync(join(results, 'runs'), { recursive: true });
const hostile = join(folder, '<img src=x onerror=document.title=1>');
symlinkSync(fake, hostile);
for (let number = 0; number < 120; number += 1) {
  const dir = join(results, 'runs', `stored-${number}`);
  mkdirSync(dir);
  const players = ['<script>document.title=1</script>', 'base'].map((name) => ({ name, limit: '8+0.08', games: 4 }));
  writeFileSync(join(dir, 'summary.json'), JSON.stringify({ name: 'stored', players, verdict: 'H1', stopped_by: 'verdict', elo: number, pairs: 2 }));
}
// One that was aborted, and lost all its games.
mkdirSync(join(results, 'runs', 'aborted'));
writeFileSync(join(results, 'runs', 'aborted', 'summary.json'), JSON.stringify({ name: 'aborted', players: ['new', 'base'].map((name) => ({ name, limit: '8+0.08', games: 4 })),
  verdict: 'continue', stopped_by: 'too-many-failures', llr: -1.2, llr_lower: -2.9, llr_upper: 2.9, elo: null, elo_lo: null, elo_hi: null, score: 0, pairs: 2 }));
const run = join(results, 'runs', 'live');
start(quintain, ['sprt', '--new', `'${hostile}' -- --seed 1 --sleep-us 150000`, '--base', `'${fake}' -- --seed 2 --sleep-us 150000`,
  '--tc', '60+1', '--max-pairs', '100000', '-j', '2', '--max-plies', '40', '--out', run], 'ignore');
// A preset for the form, in the folder in which the page is served.
mkdirSync(join(folder, 'configs'));
writeFileSync(join(folder, 'configs', 'quick.toml'), 'nodes = 1\nmax-plies = 30\nmax-pairs = 2\nnote = "a quick one"\n');
writeFileSync(join(folder, 'configs', 'engines.toml'), '[engines.peer]\ncommand = "/nonexistent"\n');
const served = start(quintain, ['serve', results, '--run', '--listen', '127.0.0.1:0'], ['ignore', 'pipe', 'inherit'], folder);
const [address] = await firstMatch(served.stdout, /http:\S+/);

const browser = start(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0',
  '--window-size=1200,1500', `--user-data-dir=${join(folder, 'profile')}`, 'about:blank'], ['ignore', 'ignore', 'pipe']);
const [, socket] = await firstMatch(browser.stderr, /listening on (ws:\S+)/);

// The debugging protocol: numbered questions, and events.
const line = new WebSocket(socket);
await new Promise((open, failed) => { line.onopen = open; line.onerror = failed; });
const waiting = new Map();
const complaints = [];
let number = 0;
line.onmessage = ({ data }) => {
  const said = JSON.parse(data);
  if (said.id) {
    const { done, failed } = waiting.get(said.id);
    waiting.delete(said.id);
    if (said.error) failed(new Error(said.error.message));
    else done(said.result);
  } else if (said.method === 'Runtime.exceptionThrown') complaints.push(said.params.exceptionDetails.exception?.description ?? said.params.exceptionDetails.text);
  else if (said.method === 'Log.entryAdded' && said.params.entry.level === 'error') complaints.push(`${said.params.entry.text} ${said.params.entry.url ?? ''}`);
  else if (said.method === 'Page.javascriptDialogOpening') ask('Page.handleJavaScriptDialog', { accept: true });
};
let sessionId;
const ask = (method, params = {}) => new Promise((done, failed) => {
  number += 1;
  waiting.set(number, { done, failed });
  line.send(JSON.stringify({ id: number, method, params, sessionId }));
});
const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
({ sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true }));
for (const domain of ['Page', 'Runtime', 'Log']) await ask(`${domain}.enable`);

const value = async (expression) => {
  const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
  return result.value;
};
const until = async (what, expression) => {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await value(expression)) {
      console.log(`dashboard: ${what}`);
      return;
    }
    await new Promise((done) => setTimeout(done, 150));
  }
  throw new Error(`${what}: never; the page says: ${await value('document.body.innerText')}; ${complaints.join('; ')}`);
};
const picture = async (name) => {
  if (!screenshots) return;
  const { data } = await ask('Page.captureScreenshot', { format: 'png' });
  writeFileSync(join(screenshots, `${name}.png`), Buffer.from(data, 'base64'));
};

await ask('Page.navigate', { url: address });
await until('the list shows a page of the runs, the live one first', "document.querySelectorAll('#rows tr').length === 50 && document.querySelector('#rows tr a').textContent === 'runs/live'");
await until('the token left the address', "!location.href.includes('token') && sessionStorage.length === 1");
await picture('list');
await until('clocks and signs follow the rounded number', `import('/view.js').then(({ clock, signed }) => [19990, 59600, 119600, 3599600].map(clock).join(' ') === '0:19.9 1:00 2:00 1:00:00'
  && [-0.001, 0.001, -0.1, 0.1].map((one) => signed(one, 2)).join(' ') === '0.00 0.00 \u22120.10 +0.10')`);
await value("document.getElementById('after').click()");
await until('the next page', "document.getElementById('page').textContent === 'page 2 of 3'");
await value("location.hash = '#/run/runs%2Flive'");
await until('boards with pieces', "document.querySelectorAll('#boards .game').length >= 2 && document.querySelectorAll('#boards .piece').length > 8");
await until('names are text', "[...document.querySelectorAll('.game .side span')].some((one) => one.textContent.includes('<img src=x'))");
const fen = await value("document.querySelector('.board').getAttribute('aria-label')");
await until('a move is played', `document.querySelector('.board')?.getAttribute('aria-label') !== ${JSON.stringify(fen)}`);
await until('clocks run', "[...document.querySelectorAll('.clock')].some((one) => /^[01]:[0-9]/.test(one.textContent))");
await until('the path of the LLR is drawn', "document.getElementById('llr').naturalWidth > 100");
await until('figures', "document.getElementById('figures').textContent.includes('pairs')");
await picture('live');
await value("document.querySelector('[data-command=pause]').click()");
await until('it is paused', "document.getElementById('status').textContent.startsWith('paused')");
await value("document.querySelector('[data-command=resume]').click()");
await until('it goes on', "document.getElementById('status').textContent.startsWith('running')");
// Its concurrency by keyboard: what was typed stays while the run reports its own, and Enter sets it.
await value(`{ const box = document.getElementById('games'); box.value = '1'; box.blur(); window.reports = 0;
  new MutationObserver(() => { window.reports += 1; }).observe(document.getElementById('status'), { childList: true }); }`);
await until('a typed concurrency stays', "window.reports >= 2 && document.getElementById('games').value === '1'");
await value("document.getElementById('games').focus()");
await ask('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' });
await until('Enter sets the concurrency', "document.getElementById('status').textContent.includes(' of 1 game ')");
await value("document.getElementById('notes').value = 'not saved yet'");
await value("document.querySelector('[data-command=stop]').click()");
await until('it is over, and its summary is shown', "document.querySelector('[data-command=pause]').hidden && !document.getElementById('restart').hidden && document.getElementById('about').textContent.includes('interrupted') && document.querySelectorAll('#player-rows tr').length === 2");
await until('it plays no games, and the note is still there', "document.getElementById('status').textContent === '' && document.getElementById('notes').value === 'not saved yet'");
await ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
await until('the picture is there', "!document.getElementById('llr').hidden && document.getElementById('llr').naturalWidth > 100");
await picture('over-dark');
// What lies on a page fits a phone, and scrolls in boxes of its own where it is wider.
const fits = async (name) => {
  for (const width of [390, 1200]) {
    await ask('Emulation.setDeviceMetricsOverride', { width, height: 1000, deviceScaleFactor: 1, mobile: width < 500 });
    await until(`${name} fits ${width} pixels`, `window.innerWidth === ${width} && document.documentElement.scrollWidth <= ${width}`);
    await picture(`${name.replaceAll(' ', '-')}-${width}`);
  }
};
const go = (hash) => value(`location.hash = ${JSON.stringify(hash)}`);
const set = (id, text) => value(`{ const one = document.getElementById('${id}'); one.value = ${JSON.stringify(text)}; one.dispatchEvent(new Event('input', { bubbles: true })); }`);
await fits('a run that is over');
// Charts are drawn for the width of a phone, and again for a desk.
for (const [width, drawn] of [[390, 360], [1200, 800]]) {
  await ask('Emulation.setDeviceMetricsOverride', { width, height: 1000, deviceScaleFactor: 1, mobile: width < 500 });
  await until(`charts are ${drawn} units wide at ${width} pixels`, `document.getElementById('llr').naturalWidth === ${drawn} && document.getElementById('elo').naturalWidth === ${drawn}`);
}
// A new test by the form: refused in one line first, then added and played by the daemon.
await go('#/new');
await until('the form has the preset', "[...document.querySelectorAll('#new-preset option')].map((one) => one.value).join(' ') === ' configs/quick.toml'");
await set('new-preset', 'configs/quick.toml');
await set('new-new', `'${hostile}' -- --seed 1`);
await set('new-base', `'${fake}' -- --seed 2`);
await set('new-more', '--tc never');
await value("document.getElementById('new-add').click()");
await until('what is wrong is said in one line', "/--tc/.test(document.getElementById('new-said').textContent)");
await set('new-more', '');
await until('the command line stands below', "document.getElementById('new-line').textContent.startsWith('quintain queue add sprt configs/quick.toml --new ')");
await fits('the form');
await value("document.getElementById('new-add').click()");
await until('the test is over', "location.hash === '#/queue' && document.querySelectorAll('#over-rows tr').length === 1 && document.querySelector('#over-rows').textContent.includes('a quick one')");
await fits('the queue');
// Entries that wait are dragged, one before the other. The daemon plays the run of a higher priority meanwhile.
const seed = (number) => `'${fake}' -- --seed ${number} --sleep-us 20000`;
const added = (words) => new Promise((done) => start(quintain, ['queue', '--results', results, 'add', ...words], 'ignore').on('exit', done));
await added(['--priority', '9', 'match', seed(1), seed(2), '--tc', '60+1', '--pairs', '1000', '-j', '1', '--note', 'a long one']);
for (const note of ['one', 'two', 'three']) await added(['match', seed(1), seed(2), '--nodes', '1', '--pairs', '1', '--note', note]);
const titles = "[...document.querySelectorAll('#queue-rows tr')].map((row) => row.cells[4].firstChild.textContent).join(' ')";
await until('four entries wait or are played', `${titles} === 'a long one one two three'`);
await value(`{ const rows = [...document.querySelectorAll('#queue-rows tr')];
  const dataTransfer = new DataTransfer();
  const send = (row, kind) => row.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true, clientY: row.getBoundingClientRect().top + 1 }));
  send(rows[3], 'dragstart'); send(rows[1], 'dragover'); send(rows[1], 'drop'); send(rows[3], 'dragend'); }`);
await until('the third was dragged before the first', `${titles} === 'a long one three one two'`);
await picture('dragged');
await value("[...document.querySelectorAll('#queue-rows tr')].find((row) => row.textContent.includes('three')).querySelector('[aria-label*=\"before all\"]').focus()");
await ask('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' });
await until('the keyboard puts one first', "[...document.querySelectorAll('#queue-rows tr')].find((row) => row.textContent.includes('three')).cells[2].textContent === '9'");
await until('the focus stays on the button', "document.activeElement?.textContent === 'First' && document.activeElement.closest('tr').textContent.includes('three')");
for (let left = 4; left > 0; left -= 1) {
  await value("[...document.querySelectorAll('#queue-rows button')].find((one) => one.textContent === 'Remove')?.click()");
  await until(`${left - 1} entries are left`, `document.querySelectorAll('#queue-rows tr').length < ${left}`);
  if (await value("document.querySelectorAll('#queue-rows tr').length === 0")) break;
}
await value("[...document.querySelectorAll('#over-rows tr')].find((row) => row.textContent.includes('a quick one')).querySelector('a').click()");
await until('its conditions are there', "['Book', 'Adjudication'].every((name) => [...document.querySelectorAll('#settings dt')].some((one) => one.textContent === name))");
await until('its games are listed', "document.querySelectorAll('#game-rows tr').length === 4");
await value("document.querySelector('#game-rows button').click()");
await until('a game stands on the board', "document.querySelectorAll('#replay-board .piece').length > 3 && document.querySelectorAll('#replay-moves .move').length > 10");
await until('its moves are numbered', "/^[0-9]+(\\.| \u2026)/.test(document.getElementById('replay-moves').textContent)");
const at = await value("document.getElementById('replay-ply').textContent");
await ask('Input.dispatchKeyEvent', { type: 'keyDown', key: 'ArrowLeft', code: 'ArrowLeft', windowsVirtualKeyCode: 37 });
await until('the keyboard moves it', `document.getElementById('replay-ply').textContent !== ${JSON.stringify(at)} && document.querySelectorAll('#replay-evals polyline').length === 2`);
await set('game-opening', 'no such opening');
await until('the games are filtered', "document.querySelectorAll('#game-rows tr').length === 0");
await set('game-opening', '');
await until('the block is there to copy', "document.getElementById('block').textContent.includes('Penta | ')");
await ask('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'], origin: new URL(address).origin });
await ask('Page.bringToFront');
await value("document.querySelector('[data-copy=block]').click()");
await until('the block is copied', "document.getElementById('copied').textContent === 'copied' && navigator.clipboard.readText().then((text) => text === document.getElementById('block').textContent)");
await value("document.getElementById('explain-part').open = true");
await until('the points are explained', "document.getElementById('explain').textContent.includes('pairs')");
await set('notes', '<img src=x onerror=document.title=2>');
await value("document.getElementById('note-keep').click()");
await until('the note is kept', "document.getElementById('noted').textContent === 'kept'");
await fits('a run with games');
await value("fetch(document.querySelector('#downloads a').href).then((one) => one.text()).then((text) => { window.report = text; })");
await until('the report is there', "window.report?.startsWith('<!DOCTYPE html>')");
// Two runs side by side.
await go(`#/compare/runs%2Flive/${await value('location.hash.slice(6)')}`);
await until('settings that differ are shown', "[...document.querySelectorAll('#compare-plans tr')].some((row) => row.cells[0].textContent === 'seed')");
await until('both pictures are there', "[...document.querySelectorAll('.pair img')].filter((one) => one.naturalWidth > 100).length > 0");
await fits('two runs');
await go('#/progress');
// The condition of most games comes first; how many games the live run has played, nobody knows here.
const drawn = "!document.getElementById('progress-picture').hidden && document.getElementById('progress-picture').naturalWidth > 100 && document.getElementById('progress-said').textContent === ''";
await until('the progress is drawn', `${drawn} && document.getElementById('progress-at').selectedIndex === 0`);
await value(`{ const one = document.getElementById('progress-at'); window.first = document.getElementById('progress-picture').src; one.value = 'nodes=1'; one.dispatchEvent(new Event('change')); }`);
await until('the progress of the chosen condition is drawn', `${drawn} && document.getElementById('progress-picture').src !== window.first && document.getElementById('progress-at').value === 'nodes=1'`);
await fits('the progress');
// The run that was stopped goes on in the queue, is watched, and stops again.
await go('#/run/runs%2Flive');
await until('what happened survives a reload', "document.getElementById('lines').textContent.includes('paused') && !document.getElementById('happened').hidden");
await until('the stopped run can go on', "!document.getElementById('restart').hidden");
await value("document.getElementById('restart').click()");
await until('the daemon plays it', "location.hash === '#/queue' && document.querySelector('#queue-rows .live')?.textContent === 'playing'");
await value("[...document.querySelectorAll('#queue-rows button')].find((one) => one.textContent === 'Remove').click()");
await until('it is taken out', "document.querySelectorAll('#queue-rows tr').length === 0");
// One that is out of time can go on, too.
const late = ['match', seed(1), seed(2), '--tc', '60+1', '--pairs', '1000', '-j', '1', '--max-time', '1s', '--out', join(results, 'runs', 'late')];
await new Promise((done) => start(quintain, late, 'ignore').on('exit', done));
await go('#/run/runs%2Flate');
await until('a run that is out of time can go on', "!document.getElementById('restart').hidden && document.getElementById('about').textContent.includes('out of time')");
// A knockout has its rounds. One of its players has a name as long as files can have.
const cup = join(results, 'runs', 'cup');
const long = join(folder, 'n'.repeat(200));
symlinkSync(fake, long);
await new Promise((done) => start(quintain, ['match', '--format', 'knockout', ...[1, 2, 3, 4, 5, 6].map((one) => `'${one === 1 ? long : fake}' -- --seed ${one} --resigns ${10 * one}`), '--nodes', '1', '--pairs', '1',
  '--max-plies', '30', '-j', '2', '--out', cup], 'ignore').on('exit', done));
await until('the knockout is listed', "fetch('/api/runs').then((one) => one.json()).then((found) => found.runs.some((run) => run.id === 'runs/cup' && run.state === 'over'))");
await go('#/');
await set('q', 'runs/aborted');
await until('why a run was aborted is said, and that it lost all games', "document.querySelectorAll('#rows tr').length === 1 && [2, 3].map((cell) => document.querySelector('#rows tr').cells[cell].textContent).join(' ') === 'too-many-failures, LLR \u22121.20 \u2212inf'");
await set('q', 'runs/cup');
await until('its winner is named in the list', "document.querySelectorAll('#rows tr').length === 1 && document.querySelector('#rows tr').cells[2].textContent.endsWith(' wins the knockout')");
await fits('the list');
await set('q', '');
await go('#/run/runs%2Fcup');
await until('its page names the winner', "document.getElementById('about').textContent.includes(' wins the knockout')");
await until('its rounds are shown', "[...document.querySelectorAll('.round h4')].map((one) => one.textContent).join(' ') === 'Quarter-finals Semi-finals Final' && [...document.querySelectorAll('.round')].map((one) => one.querySelectorAll('.meeting').length).join(' ') === '2 2 1'");
await value("document.getElementById('rounds-part').scrollIntoView()");
await fits('a knockout');
await until('no picture is asked that it does not have', "performance.getEntriesByType('resource').every((one) => !/cup\\/[a-z]+\\.svg/.test(one.name))");
// A run that ends is told by a notice of the browser.
await value("window.told = []; window.Notification = class { static permission = 'granted'; static requestPermission = async () => 'granted'; constructor(title, { body }) { told.push(body); } }");
await go('#/');
await value("document.getElementById('before').click()");
await value("document.getElementById('notify').click()");
const short = join(results, 'runs', 'short');
start(quintain, ['match', seed(1), seed(2), '--tc', '60+1', '--pairs', '6', '--max-plies', '60', '-j', '1', '--note', 'a short one', '--out', short], 'ignore');
await until('the run is live in the list', "[...document.querySelectorAll('#rows tr')].some((row) => row.textContent.includes('a short one') && row.querySelector('.live'))");
await until('its end is told', "told.some((text) => text.startsWith('a short one: '))");
// Where other machines reach the page, the form needs --new-tests.
for (const [flags, allowed] of [[[], false], [['--new-tests'], true]]) {
  const other = start(quintain, ['serve', results, '--listen', '0.0.0.0:0', ...flags], ['ignore', 'pipe', 'inherit'], folder);
  const [place] = await firstMatch(other.stdout, /http:\S+/);
  await ask('Page.navigate', { url: place.replace('0.0.0.0', '127.0.0.1') });
  await until(`the page for other machines is open${allowed ? ', with --new-tests' : ''}`, "document.querySelectorAll('#rows tr').length > 0");
  await go('#/new');
  await until('its form is there', "document.querySelectorAll('#new-preset option').length === 2");
  await set('new-new', `'${fake}' -- --seed 1`);
  await set('new-base', `'${fake}' -- --seed 2`);
  await set('new-nodes', '1');
  await set('new-max-pairs', '1');
  await value("document.getElementById('new-add').click()");
  await until(allowed ? 'it adds a test' : 'it refuses a test', allowed ? "location.hash === '#/queue' && document.getElementById('queue-said').textContent.startsWith('Added: entry')" : "document.getElementById('new-said').textContent.includes('--new-tests')");
}
await ask('Page.navigate', { url: address });
await until('the first page is open again', "document.querySelectorAll('#rows tr').length > 0");
// A run that workers of its own play, if there is a server for them.
const hasServer = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'].some((one) => existsSync(join(one, 'nats-server')));
if (hasServer) {
  start(quintain, ['sprt', '--new', `'${fake}' -- --seed 1 --sleep-us 20000`, '--base', `'${fake}' -- --seed 2 --sleep-us 20000`,
    '--tc', '60+1', '--max-pairs', '100000', '--workers', 'local:2', '--max-plies', '20', '--out', join(results, 'runs', 'fleet')], 'ignore');
  while (!existsSync(join(results, 'runs', 'fleet', 'games.jsonl'))) await new Promise((done) => setTimeout(done, 100));
  // The list of runs is a little older than the folder.
  await until('the run is listed', "fetch('/api/runs').then((one) => one.json()).then((found) => found.runs.some((run) => run.id === 'runs/fleet'))");
  await value("location.hash = '#/run/runs%2Ffleet'");
  await until('the table names both workers and their machine', "[...document.querySelectorAll('#worker-rows tr')].filter((row) => /^local-[0-9]/.test(row.cells[0].textContent) && row.cells[1].textContent.includes('core')).length === 2");
  await until('a row has a cell under each head', "[...document.querySelectorAll('#worker-rows tr')].every((row) => row.cells.length === document.querySelectorAll('#fleet th').length)");
  await until('workers play and their games count', "[...document.querySelectorAll('#worker-rows tr')].some((row) => row.cells[row.cells.length - 1].textContent.startsWith('playing pair') && Number(row.cells[5].textContent) > 0)");
  for (const width of [1200, 390]) {
    await ask('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
    // The table scrolls in its own box; the page does not.
    await until(`the page fits ${width} pixels`, `window.innerWidth === ${width} && document.documentElement.scrollWidth <= ${width} && !document.getElementById('fleet').hidden`);
    await value("document.getElementById('fleet').scrollIntoView()");
    await picture(`workers-${width}`);
  }
} else console.log('dashboard: SKIPPED the table of workers: no program nats-server');
if (await value("document.title !== 'Quintain' || [...document.querySelectorAll('img')].some((one) => !one.id) || document.querySelectorAll('script').length !== 1")) {
  throw new Error('markup of an engine\'s name came through');
}
// An answer that there is no such picture is an answer; anything else on the console is a fault.
const faults = complaints.filter((text) => !(/\.svg|\/more|\/games/.test(text) && text.includes('404')) && !(text.includes('/api/queue') && /40[03]/.test(text)) && !(text.includes('/events') && text.includes('409')));
if (faults.length) throw new Error(`the page complained: ${faults.join('; ')}`);
finish(0);
