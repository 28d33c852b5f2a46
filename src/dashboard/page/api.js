// Questions to the server. The token came with the address once, and stays in this tab.
import { at } from './view.js';

const TOKEN = 'quintain-token';

export function takeToken() {
  const found = /^#token=([A-Za-z0-9._-]+)$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(TOKEN, found[1]);
  history.replaceState(null, '', '#/');
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

function headers() {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { 'X-Quintain-Token': token } : {};
}

export function notice(text) {
  at('notice').textContent = text;
  at('notice').hidden = !text;
}

export async function ask(path, more = {}) {
  const response = await fetch(path, { headers: headers(), credentials: 'omit', cache: 'no-store', ...more });
  if (response.ok) return response;
  const said = await response.text().catch(() => '');
  const error = new Error(reason(said) || `status ${response.status}`);
  error.status = response.status;
  throw error;
}

// Answers of the server itself are text.
function reason(said) {
  try {
    return JSON.parse(said).error;
  } catch {
    return said.slice(0, 300);
  }
}

export const json = async (path, more) => (await ask(path, more)).json();

export const post = (path, body) => ask(path, { method: 'POST', body });

export const api = (id, what = '') => `/api/runs/${encodeURIComponent(id)}${what}`;

export function failed(error) {
  if (error.name === 'AbortError') return;
  notice(error instanceof TypeError ? `quintain serve does not answer; is it still running? (${error.message})` : error.message);
}

// Words as a shell would split them; quotes keep words together.
export function split(line) {
  const words = [];
  let word = null;
  let quote = '';
  for (const sign of line) {
    if (quote) {
      if (sign === quote) quote = '';
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= '';
    } else if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + sign;
  }
  if (quote) throw new Error(`a quote is open: ${quote}`);
  if (word !== null) words.push(word);
  return words;
}

export const quoted = (word) => (/^[A-Za-z0-9_.,:=@%+\/~^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
