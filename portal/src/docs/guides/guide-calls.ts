/** A call that a guide shows as one curl command. The page shows it in every language, with the reader's credential. */
export interface GuideCall {
  method: string;
  path: string;
  query: [name: string, value: string][];
  headers: [name: string, value: string][];
  body: unknown;
  /** The guide's own command, shown if this service does not have the call. */
  shell: string;
}

const credentials = /^(apikey|authorization|content-type)$/i;
const ownFields = ['client_id', 'client_secret'];

/** Undefined for a shell script that is more than one call: it stays as it is written. */
export function readCall(shell: string): GuideCall | undefined {
  const words = wordsOf(shell.replaceAll(/\\\n/g, ' '));
  if (words?.[0] !== 'curl') return undefined;
  const call: GuideCall = { method: '', path: '', query: [], headers: [], body: undefined, shell };
  const data: string[] = [];
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? '';
    if (/^-[is]+$/.test(word)) continue;
    if (word === '-X') call.method = words[++index] ?? '';
    else if (word === '-H') call.headers.push(...headerOf(words[++index] ?? ''));
    else if (word === '-d') data.push(words[++index] ?? '');
    else if (word.startsWith('$HELIOGRAPH_URL/') && call.path === '') readTarget(call, word.slice(15));
    else return undefined;
  }
  call.method ||= data.length > 0 ? 'POST' : 'GET';
  call.body = bodyOf(data);
  return call.path === '' ? undefined : call;
}

function headerOf(header: string): [string, string][] {
  const [name = '', ...value] = header.split(': ');
  return credentials.test(name) ? [] : [[name, value.join(': ')]];
}

function readTarget(call: GuideCall, target: string): void {
  const { pathname, searchParams } = new URL(target, 'http://service');
  call.path = pathname;
  call.query = [...searchParams];
}

/** JSON, or the fields of a form. The page fills in the client's credential. */
function bodyOf(data: string[]): unknown {
  const [first] = data;
  if (first === undefined) return undefined;
  if (first.startsWith('{')) return JSON.parse(first);
  return Object.fromEntries([...new URLSearchParams(data.join('&'))].filter(([name]) => !ownFields.includes(name)));
}

/** The words of one shell command; undefined if it is more than a plain command. */
function wordsOf(shell: string): string[] | undefined {
  const words: string[] = [];
  const pattern = /\s*(?:'([^']*)'|"([^"`]*)"|([^\s'"|;&<>`()#]+))(?=\s|$)|\s+$/gy;
  let end = 0;
  for (const match of shell.matchAll(pattern)) {
    end = match.index + match[0].length;
    const word = match[1] ?? match[2] ?? match[3];
    if (word !== undefined) words.push(word);
  }
  return end === shell.length ? words : undefined;
}
