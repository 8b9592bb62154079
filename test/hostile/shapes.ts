/** A text made of one piece again and again, as long as it is wanted. */
interface Repeated {
  name: string;
  start?: string;
  piece: string;
  end?: string;
}

/** Texts that cost more than they look, or that look like what they are not. */
const repeated: Repeated[] = [
  { name: 'letters', piece: 'a' },
  { name: 'digits', piece: '9' },
  { name: 'spaces before a sign', start: 'a', piece: ' ', end: '!' },
  { name: 'tabs', piece: '\t' },
  { name: 'line ends', piece: '\r\nX: y' },
  { name: 'NUL', start: 'a', piece: '\0' },
  { name: 'high surrogates alone', piece: '\ud83d' },
  { name: 'low surrogates alone', piece: '\ude00' },
  { name: 'combining marks', start: 'e', piece: '\u0301' },
  { name: 'marks out of order', start: 'e', piece: '\u0345\u0334' },
  { name: 'zalgo', piece: 'Z\u0300\u0489\u0360\u0316' },
  { name: 'letters with marks', piece: 'e\u0301' },
  { name: 'characters that NFC makes longer', piece: '\ufb2c\u0958' },
  { name: 'letters that grow in lower case', piece: 'İ' },
  { name: 'emoji of families', piece: '👨‍👩‍👧‍👦' },
  { name: 'variation selectors', piece: '\ufe0f' },
  { name: 'joiners', piece: '\u200d\u200b' },
  { name: 'turned around', piece: '\u202eשלום' },
  { name: 'line separators', piece: '\u2028' },
  { name: 'noncharacters', piece: '\uffff' },
  { name: 'wide digits', start: '+', piece: '４' },
  { name: 'typography', piece: '“½…' },
  { name: 'a number that goes on', start: '+', piece: '4' },
  { name: 'a number with hyphens', start: '+4', piece: '-4' },
  { name: 'a number in parentheses', start: '+44', piece: '(' },
  { name: 'host labels', piece: 'a.', end: '!' },
  { name: 'one host label', piece: 'a', end: '.com' },
  { name: 'Punycode', start: 'xn--', piece: 'a-', end: '.com' },
  { name: 'Punycode that decodes', start: 'xn--', piece: 'zca', end: '.com' },
  { name: 'a host name in letters', piece: 'ü', end: '.example' },
  { name: 'an e-mail address', start: 'a@', piece: 'a.', end: '@' },
  { name: 'sender signs', start: 'a', piece: ' -_&+', end: '!' },
  { name: 'words of a language tag', start: 'en', piece: '-x-abcdefgh' },
  { name: 'percent encodings', piece: '%00%ff' },
  { name: 'broken percent encodings', piece: '%zz' },
  { name: 'quotes and backslashes', piece: '"\\' },
  { name: 'SQL', piece: "' or 1=1; --" },
  { name: 'a regular expression', piece: '(a+)+$' },
  { name: 'JSON', piece: '{"a":[' },
  { name: 'HTML', piece: '<script>' },
  { name: 'paths', piece: '../' },
  { name: 'a token', start: 'eyJ', piece: 'eyJhIjp7.' },
  { name: 'an id', start: 'cli_', piece: '0' },
  { name: 'a time that goes on', start: '2030-01-01T00:00:00.', piece: '0', end: 'Z' },
];

const exact = [
  '',
  ' ',
  '0',
  '-0',
  '05',
  '5.0',
  '0x10',
  '1e400',
  'Infinity',
  'NaN',
  'null',
  'true',
  '__proto__',
  'constructor',
  '+447700900123\0',
  '2016-12-31T23:59:60Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-02-30T00:00:00Z',
];

/** Values of JSON that are no text, as they are written. */
const otherJson: [name: string, json: (bytes: number) => string][] = [
  ['beyond any number', () => '1e400'],
  ['below any number', () => '-1e400'],
  ['nearly nothing', () => '1e-400'],
  ['minus zero', () => '-0'],
  ['zero', () => '0'],
  ['a fraction', () => '60.5'],
  ['more than 32 bits', () => '2147483648'],
  ['more than 53 bits', () => '9007199254740993'],
  ['more than 64 bits', () => '18446744073709551616'],
  ['thousands of digits', (bytes) => '9'.repeat(bytes)],
  ['true', () => 'true'],
  ['null', () => 'null'],
  ['a list', (bytes) => `[${'"a",'.repeat(bytes / 4 - 1)}"a"]`],
  ['lists in lists', (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)],
  ['objects in objects', (bytes) => `${'{"a":'.repeat(bytes / 6 - 1)}1${'}'.repeat(bytes / 6 - 1)}`],
  ['a prototype', () => '{"__proto__":{"a":1},"constructor":{"prototype":{}},"toString":1,"length":1e9}'],
  ['many properties', (bytes) => `{${numbered(bytes / 10, (n) => `"p${n}":1`)}}`],
  ['names that are numbers', (bytes) => `{${numbered(bytes / 12, (n) => `"${n * 65_536}":1`)}}`],
  ['a property again and again', (bytes) => `{${'"a":1,'.repeat(bytes / 6 - 2)}"a":2}`],
  ['a NUL in a name', () => '{"\\u0000":"\\u0000","\\ud800":"\\udfff"}'],
];

function numbered(count: number, write: (n: number) => string): string {
  return Array.from({ length: Math.floor(count) }, (_, n) => write(n)).join();
}

export interface Shape {
  name: string;
  /** As it stands in a path, a query or a form; undefined for what only JSON can say. */
  text: ((bytes: number) => string) | undefined;
  json(bytes: number): string;
  /** Whether it is as long as it is wanted. */
  grows: boolean;
}

/** The text in at most this many bytes of JSON. */
function fill({ start = '', piece, end = '' }: Repeated, bytes: number): string {
  const cost = Buffer.byteLength(JSON.stringify(piece)) - 2;
  return start + piece.repeat(Math.max(1, Math.floor((bytes - start.length - end.length - 2) / cost))) + end;
}

export const shapes: Shape[] = [
  ...repeated.map((shape) => ({
    name: shape.name,
    text: (bytes: number) => fill(shape, bytes),
    json: (bytes: number) => JSON.stringify(fill(shape, bytes)),
    grows: true,
  })),
  ...exact.map((text) => ({
    name: `exactly ${JSON.stringify(text)}`,
    text: () => text,
    json: () => JSON.stringify(text),
    grows: false,
  })),
  ...otherJson.map(([name, json]) => ({ name, text: undefined, json, grows: json.length > 0 })),
];

const text = { to: '+15005550100', from: 'ACME' };

/** Lists of texts that are refused or worked on, each as much as it can be, in 64 kB. */
export const crowds: Record<string, unknown[]> = {
  'a hundred items with every field wrong': Array(100).fill({
    to: '1'.repeat(90),
    from: 'ü'.repeat(40),
    message: '\u0301'.repeat(80),
    reference: 'r'.repeat(129),
    send_at: 'x',
    validity_seconds: 1,
    smart_encoding: 1,
    channel: 'y',
  }),
  'ten texts of marks': Array(10).fill({ ...text, message: `e${'\u0345\u0334'.repeat(1500)}`, smart_encoding: true }),
  'ten texts of letters with thirty marks': Array(10).fill({
    ...text,
    message: `e${'\u0345\u0334'.repeat(15)}`.repeat(96),
    smart_encoding: true,
  }),
  'seven texts of typography': Array(7).fill({ ...text, message: '“½…'.repeat(1000), smart_encoding: true }),
  'a hundred right texts': Array(100).fill({ ...text, message: 'x'.repeat(500) }),
  'a thousand nulls': Array(1000).fill(null),
  'thirty thousand zeros': Array(30_000).fill(0),
};
