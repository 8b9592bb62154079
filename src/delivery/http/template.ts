// Tests: src/delivery/http/render.test.ts, src/delivery/http/settings.test.ts
/** The values that templates can name. A value that the text does not have is undefined. */
export interface TemplateValues {
  base: string;
  /** Our id of the text. */
  id: string;
  /** The phone number with its plus. */
  to: string;
  from: string;
  text: string;
  /** Set for a code that goes by another channel than `sms`. */
  code: string | undefined;
  /** The provider's name for the language of the code, or ours. */
  language: string | undefined;
  /** The text as the inside of SSML's `speak`, for a call. */
  ssml: string | undefined;
  /** The text in Twilio's markup, for a call. */
  twiml: string | undefined;
  /** Seconds until the text expires. */
  validity: string;
  /** Milliseconds since 1970. */
  expires_at: string;
  /** `gsm` or `unicode`. */
  alphabet: string;
  /** How many parts the text takes. */
  segments: string;
  template_id: string | undefined;
  /** The URL that the provider reports to. */
  receipts_url: string;
  inbound_url: string;
  secrets: Readonly<Record<string, string>>;
  values: Readonly<Record<string, string>>;
}

const plainNames = [
  'base',
  'id',
  'to',
  'from',
  'text',
  'code',
  'language',
  'ssml',
  'twiml',
  'validity',
  'expires_at',
  'alphabet',
  'segments',
  'template_id',
  'receipts_url',
  'inbound_url',
] as const;
type PlainName = (typeof plainNames)[number];

interface Placeholder {
  name: string;
  filters: string[];
}

type Piece = string | Placeholder;

/** Text with placeholders in double braces, like `App {{secret:key}}` or `{{to|digits}}`. */
export interface Template {
  pieces: readonly Piece[];
}

const filters: Record<string, (value: string, argument: string) => string | undefined> = {
  digits: (value) => value.replaceAll(/\D/g, ''),
  plus: (value) => `+${value.replaceAll(/\D/g, '')}`,
  zerozero: (value) => `00${value.replaceAll(/\D/g, '')}`,
  /** A number in JSON. */
  int: (value) => (/^-?\d{1,15}$/.test(value) ? value : undefined),
  ms: (value) => `${Number(value) * 1000}`,
  minutes: (value) => `${Math.max(1, Math.floor(Number(value) / 60))}`,
  iso: (value) => new Date(Number(value)).toISOString(),
  lower: (value) => value.toLowerCase(),
  /** `clamp:1:36000` keeps a number within bounds. */
  clamp(value, argument) {
    const [least = '', most = ''] = argument.split(':');
    return `${Math.min(Number(most), Math.max(Number(least), Number(value)))}`;
  },
  /** `map:gsm=text;unicode=unicode` replaces a value; a value that is not named is left out. */
  map: (value, argument) =>
    new Map(argument.split(';').map((pair) => pair.split('=', 2) as [string, string])).get(value),
};

const argumentForm: Record<string, RegExp> = {
  clamp: /^\d{1,12}:\d{1,12}$/,
  map: /^[^=;|]+=[^=;|]*(?:;[^=;|]+=[^=;|]*)*$/,
};

/** Reads a template that was checked. */
export function readTemplate(text: string): Template {
  const pieces: Piece[] = [];
  let from = 0;
  for (;;) {
    const open = text.indexOf('{{', from);
    const close = open === -1 ? -1 : text.indexOf('}}', open);
    if (close === -1) break;
    if (open > from) pieces.push(text.slice(from, open));
    const [name = '', ...used] = text.slice(open + 2, close).split('|');
    pieces.push({ name: name.trim(), filters: used.map((each) => each.trim()) });
    from = close + 2;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return { pieces };
}

/** Why a text is no template (completes a sentence that begins with its field), or undefined. */
export function templateProblem(text: string, known: { secrets: readonly string[]; values: readonly string[] }) {
  const { pieces } = readTemplate(text);
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      if (piece.includes('{{') || piece.includes('}}')) return 'must close every {{ with }}';
      continue;
    }
    const wrong =
      nameProblem(piece.name, known) ?? piece.filters.map(filterProblem).find((found) => found !== undefined);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function nameProblem(name: string, { secrets, values }: { secrets: readonly string[]; values: readonly string[] }) {
  const shown = JSON.stringify(name.slice(0, 64));
  if (name.startsWith('secret:'))
    return secrets.includes(name.slice(7)) ? undefined : `must not name ${shown}: secrets has no such name`;
  if (name.startsWith('value:'))
    return values.includes(name.slice(6)) ? undefined : `must not name ${shown}: values has no such name`;
  return plainNames.includes(name as PlainName)
    ? undefined
    : `must not name ${shown}: known are ${plainNames.join(', ')}, secret:… and value:…`;
}

function filterProblem(filter: string): string | undefined {
  const [name = '', argument] = split(filter);
  if (!Object.hasOwn(filters, name))
    return `must not use the filter ${JSON.stringify(filter.slice(0, 64))}: known are ${Object.keys(filters).join(', ')}`;
  const form = argumentForm[name];
  if (form === undefined) return argument === undefined ? undefined : `must use the filter ${name} without an argument`;
  return form.test(argument ?? '')
    ? undefined
    : `must give the filter ${name} an argument, like clamp:1:36000 or map:gsm=text;unicode=unicode`;
}

function split(filter: string): [string, string | undefined] {
  const colon = filter.indexOf(':');
  return colon === -1 ? [filter, undefined] : [filter.slice(0, colon), filter.slice(colon + 1)];
}

/** The value of a template. Undefined if it is one placeholder, and the text has no value for it. */
export function renderTemplate(
  { pieces }: Template,
  values: TemplateValues,
  escaped: (value: string, name: string) => string = (value) => value,
): string | undefined {
  if (pieces.length === 1 && typeof pieces[0] === 'object') {
    const only = filledIn(pieces[0], values);
    return only === undefined ? undefined : escaped(only, pieces[0].name);
  }
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : escaped(filledIn(piece, values) ?? '', piece.name)))
    .join('');
}

/** Whether the template stands for a number in JSON. */
export function isNumber({ pieces }: Template): boolean {
  const [only] = pieces;
  return pieces.length === 1 && typeof only === 'object' && only.filters.at(-1) === 'int';
}

function filledIn({ name, filters: used }: Placeholder, values: TemplateValues): string | undefined {
  let value = rawValueOf(name, values);
  for (const filter of used) {
    const [kind, argument] = split(filter);
    if (value !== undefined) value = filters[kind]?.(value, argument ?? '');
  }
  return value;
}

function rawValueOf(name: string, values: TemplateValues): string | undefined {
  if (name.startsWith('secret:')) return own(values.secrets, name.slice(7));
  if (name.startsWith('value:')) return own(values.values, name.slice(6));
  return plainNames.includes(name as PlainName) ? values[name as PlainName] : undefined;
}

function own(record: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
