// The project's progress, and two runs side by side.
import { api, ask, json } from './api.js';
import { draw } from './run.js';
import { at, element, elo, fill, many, phone, result, signed } from './view.js';

const ALL = '*';

// Games of one condition are rated together: those of most games, unless another is chosen.
async function conditions() {
  const select = at('progress-at');
  const chosen = select.value;
  const found = await json('/api/conditions');
  const option = (value, text) => {
    const one = element('option', text);
    one.value = value;
    return one;
  };
  const list = found.map(({ condition, games }) => option(condition, `${condition}: ${many(games, 'game')}`));
  if (found.length > 1) list.push(option(ALL, 'all together'));
  fill(select, list);
  if (list.some((one) => one.value === chosen)) select.value = chosen;
  at('progress-choice').hidden = found.length === 0;
}

export async function progression() {
  const picture = at('progress-picture');
  at('progress-said').textContent = 'computing ...';
  try {
    await conditions();
    const chosen = at('progress-at').value;
    const query = new URLSearchParams({ at: chosen === ALL ? '' : chosen, mix: chosen === ALL, narrow: phone.matches });
    const blob = await (await ask(`/api/progress.svg?${query}`)).blob();
    if (picture.src) URL.revokeObjectURL(picture.src);
    picture.src = URL.createObjectURL(blob);
    picture.hidden = false;
    at('progress-said').textContent = '';
  } catch (error) {
    picture.hidden = true;
    at('progress-said').textContent = error.message;
  }
}

// The pictures of both runs, below each other for each kind.
function pictures(ids) {
  for (const name of ['llr', 'elo']) {
    ids.forEach((id, place) => {
      const image = at(`compare-${name}-${place}`);
      draw(image, id, name).then(() => { image.hidden = false; }, () => { image.hidden = true; });
    });
  }
}

// A plan as lines of key and value.
function flat(value, key, into) {
  if (Array.isArray(value) && value.some((part) => typeof part === 'object')) value.forEach((part, place) => flat(part, `${key}[${place + 1}]`, into));
  else if (value && typeof value === 'object' && !Array.isArray(value)) for (const [name, part] of Object.entries(value)) flat(part, key ? `${key}.${name}` : name, into);
  else if (key) into.set(key, Array.isArray(value) ? value.join(', ') : String(value));
  return into;
}

const FIGURES = [
  ['State', ({ run }) => result(run) || run.state],
  ['Elo', ({ run }) => elo(run)],
  ['nElo', ({ run }) => (Number.isFinite(run.nelo) ? signed(run.nelo) : '')],
  ['LLR', ({ run }) => (Number.isFinite(run.llr) ? signed(run.llr, 2) : '')],
  ['Pairs', ({ run }) => run.pairs],
  ['Pairs by points', ({ summary }) => summary?.ptnml?.join(', ')],
  ['Draw ratio', ({ run }) => (Number.isFinite(run.draw_ratio) ? `${(run.draw_ratio * 100).toFixed(1)} %` : '')],
  ['Players', ({ run }) => run.labels.join(', ')],
  ['Limit', ({ run }) => run.limit],
  ['Seconds', ({ summary }) => (summary?.seconds_total ?? summary?.seconds)?.toFixed(0)],
];

function rows(names, value) {
  return names.map((name) => {
    const [one, other] = value(name);
    const line = element('tr', undefined, (one ?? '') === (other ?? '') ? '' : 'differs');
    line.append(element('th', name), element('td', one ?? '\u2013'), element('td', other ?? '\u2013'));
    return line;
  });
}

export async function compare(one, other) {
  const found = await Promise.all([one, other].map((id) => json(api(id))));
  fill(at('compare-heads'), ['', one, other].map((id) => {
    const head = element('th');
    if (!id) return head;
    const link = element('a', id);
    link.href = `#/run/${encodeURIComponent(id)}`;
    head.append(link);
    return head;
  }));
  fill(at('compare-figures'), rows(FIGURES.map(([name]) => name), (name) => {
    const value = FIGURES.find(([known]) => known === name)[1];
    return found.map((run) => value(run));
  }));
  const plans = found.map(({ written }) => flat(written ?? {}, '', new Map()));
  const keys = [...new Set(plans.flatMap((plan) => [...plan.keys()]))];
  const all = at('compare-all').checked;
  const shown = keys.filter((key) => all || plans[0].get(key) !== plans[1].get(key));
  fill(at('compare-plans'), rows(shown, (key) => plans.map((plan) => plan.get(key))));
  at('compare-same').textContent = plans.some((plan) => plan.size === 0) ? 'The plan of a run was not kept.' : `${shown.length} of ${keys.length} settings ${all ? 'are shown' : 'differ'}.`;
  at('compare-all').onchange = () => compare(one, other);
  pictures([one, other]);
}

export function begin() {
  at('progress-at').addEventListener('change', progression);
}
