// The part of Go's templates, with functions of sprig, that the chart uses. A long test holds it against Go itself.
import { functions } from './functions.ts';

/** A template's text in parts; blocks hold theirs. */
type Part =
  | { kind: 'text'; text: string }
  | { kind: 'value'; pipe: Pipe }
  | { kind: 'set'; name: string; pipe: Pipe }
  | { kind: 'if' | 'with'; pipe: Pipe; body: Part[]; otherwise: Part[] }
  | { kind: 'range'; key: string | undefined; item: string | undefined; pipe: Pipe; body: Part[] };

/** Commands. Each gets the result of the one before as its last argument. */
type Pipe = Term[][];
type Term =
  | { kind: 'literal'; value: unknown }
  | { kind: 'field'; from: string | undefined; path: string[] }
  | { kind: 'name'; name: string }
  | { kind: 'pipe'; pipe: Pipe; path: string[] };

interface Scope {
  dot: unknown;
  variables: Record<string, unknown>;
}

interface Reader {
  actions: string[];
  texts: string[];
  place: number;
}

/** Renders files of templates: what each writes. Names defined in one are known in all. */
export function renderTemplates(files: Record<string, string>, data: unknown): Record<string, string> {
  const defined = new Map<string, Part[]>();
  const parsed = Object.entries(files).map(([name, text]) => [name, parse(text, defined)] as const);
  const include = (name: string, dot: unknown) => {
    const body = defined.get(name);
    if (body === undefined) throw new Error(`no template ${name}`);
    return write(body, { dot, variables: { $: dot } });
  };

  function write(parts: Part[], scope: Scope): string {
    return parts.map((part) => writePart(part, scope)).join('');
  }

  function writePart(part: Part, scope: Scope): string {
    if (part.kind === 'text') return part.text;
    const value = run(part.pipe, scope);
    switch (part.kind) {
      case 'value':
        return textOf(value);
      case 'set':
        scope.variables[part.name] = value;
        return '';
      case 'if':
        return write(isTrue(value) ? part.body : part.otherwise, inner(scope, scope.dot));
      case 'with':
        return isTrue(value) ? write(part.body, inner(scope, value)) : write(part.otherwise, inner(scope, scope.dot));
      case 'range':
        return entriesOf(value)
          .map(([key, item]) => {
            const within = inner(scope, item);
            if (part.key !== undefined) within.variables[part.key] = key;
            if (part.item !== undefined) within.variables[part.item] = item;
            return write(part.body, within);
          })
          .join('');
    }
  }

  function run(pipe: Pipe, scope: Scope): unknown {
    let result: unknown;
    for (const [place, command] of pipe.entries()) {
      const [first, ...others] = command;
      if (first === undefined) throw new Error('an empty command');
      const args = others.map((term) => valueFor(term, scope));
      if (place > 0) args.push(result);
      result = first.kind === 'name' ? call(first.name, args) : valueFor(first, scope);
    }
    return result;
  }

  function call(name: string, args: unknown[]): unknown {
    if (name === 'include') return include(String(args[0]), args[1]);
    const known = functions[name];
    if (known === undefined) throw new Error(`no function ${name}`);
    return known(...args);
  }

  function valueFor(term: Term, scope: Scope): unknown {
    if (term.kind === 'literal') return term.value;
    if (term.kind === 'name') return call(term.name, []);
    if (term.kind === 'pipe') return fieldOf(run(term.pipe, scope), term.path);
    return fieldOf(term.from === undefined ? scope.dot : scope.variables[term.from], term.path);
  }

  return Object.fromEntries(parsed.map(([name, parts]) => [name, write(parts, { dot: data, variables: { $: data } })]));
}

/** Names that are set within a block end with it. */
function inner({ variables }: Scope, dot: unknown): Scope {
  return { dot, variables: { ...variables } };
}

function fieldOf(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((each, name) => (each as Record<string, unknown> | undefined)?.[name], value);
}

function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Go goes through a map in the order of its keys. */
function entriesOf(value: unknown): [unknown, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  return Object.entries(value ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) throw new Error('a template writes a value that is not there');
  return String(value);
}

function parse(text: string, defined: Map<string, Part[]>): Part[] {
  const reader: Reader = { actions: [], texts: [], place: 0 };
  let rest = text;
  for (;;) {
    const match = /(\s*)\{\{(-?)\s*([\s\S]*?)\s*(-?)\}\}(\s*)/.exec(rest);
    if (match === null) break;
    const [whole, before = '', trimsLeft, action = '', trimsRight, after = ''] = match;
    reader.texts.push(rest.slice(0, match.index) + (trimsLeft ? '' : before));
    reader.actions.push(action);
    rest = (trimsRight ? '' : after) + rest.slice(match.index + whole.length);
  }
  reader.texts.push(rest);
  const { parts, end } = readParts(reader, defined);
  if (end !== '') throw new Error(`unexpected ${end}`);
  return parts;
}

function readParts(reader: Reader, defined: Map<string, Part[]>): { parts: Part[]; end: string } {
  const parts: Part[] = [];
  for (;;) {
    const text = reader.texts[reader.place] ?? '';
    if (text !== '') parts.push({ kind: 'text', text });
    const action = reader.actions[reader.place++];
    if (action === undefined || action === 'end' || action.startsWith('else')) return { parts, end: action ?? '' };
    const part = readPart(action, reader, defined);
    if (part !== undefined) parts.push(part);
  }
}

function readPart(action: string, reader: Reader, defined: Map<string, Part[]>): Part | undefined {
  const [, word = '', rest = ''] = /^(if|with|range|define)\s+([\s\S]*)$/.exec(action) ?? [];
  if (word === '') {
    const [, name, value = action] = /^(\$\w+)\s*:=\s*([\s\S]*)$/.exec(action) ?? [];
    return name === undefined ? { kind: 'value', pipe: pipeOf(value) } : { kind: 'set', name, pipe: pipeOf(value) };
  }
  const { parts: body, end } = readParts(reader, defined);
  const otherwise = end.startsWith('else') ? readParts(reader, defined).parts : [];
  if (word === 'define') {
    defined.set(rest.slice(1, -1), body);
    return undefined;
  }
  if (word !== 'range') return { kind: word === 'if' ? 'if' : 'with', pipe: pipeOf(rest), body, otherwise };
  const [, first, second, from = rest] = /^(?:(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=\s*)?([\s\S]*)$/.exec(rest) ?? [];
  const [key, item] = second === undefined ? [undefined, first] : [first, second];
  return { kind: 'range', key, item, pipe: pipeOf(from), body };
}

/** Strings, numbers, names with fields, parentheses with fields, and bars. */
const tokens =
  /"(?:[^"\\]|\\.)*"|-?\d+|\$?[A-Za-z_]\w*(?:\.\w+)*|\$(?:\.\w+)*|\.(?:\w+(?:\.\w+)*)?|\(|\)(?:\.\w+)*|\|/g;

function pipeOf(text: string): Pipe {
  const all = text.match(tokens) ?? [];
  if (all.join('') !== text.replaceAll(/\s+(?=(?:[^"]*"[^"]*")*[^"]*$)/g, '')) throw new Error(`cannot read ${text}`);
  const reader = { all, place: 0 };
  return readPipe(reader).pipe;
}

function readPipe(reader: { all: string[]; place: number }): { pipe: Pipe; path: string[] } {
  const pipe: Pipe = [[]];
  for (;;) {
    const token = reader.all[reader.place++];
    if (token === undefined) return { pipe, path: [] };
    if (token.startsWith(')')) return { pipe, path: token.split('.').slice(1) };
    if (token === '|') pipe.push([]);
    else if (token === '(') pipe.at(-1)?.push({ kind: 'pipe', ...readPipe(reader) });
    else pipe.at(-1)?.push(termOf(token));
  }
}

function termOf(token: string): Term {
  if (token.startsWith('"')) return { kind: 'literal', value: JSON.parse(token) };
  if (/^-?\d/.test(token)) return { kind: 'literal', value: Number(token) };
  if (token === 'true' || token === 'false') return { kind: 'literal', value: token === 'true' };
  const [from = '', ...path] = token.split('.');
  if (from === '') return { kind: 'field', from: undefined, path: path.filter((name) => name !== '') };
  return from.startsWith('$') ? { kind: 'field', from, path } : { kind: 'name', name: token };
}
