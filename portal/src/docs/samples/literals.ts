// A text as a literal of each language. The literal must decode to exactly that text.

/** For a POSIX shell: between single quotes only the quote itself is special. */
export function shellString(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JavaScript, with single quotes unless they need more escapes. */
export function javascriptString(text: string): string {
  const json = JSON.stringify(text);
  if (text.includes("'")) return json;
  return `'${json.slice(1, -1).replaceAll('\\"', '"')}'`;
}

/** Python has the escapes of JSON. Surrogate pairs must not be escaped, and JSON.stringify does not escape them. */
export function pythonString(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** Go has the escapes of JSON too. It rejects lone surrogates, and a byte order mark within its source. */
export function goString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\ufeff', '\\ufeff');
}

/** Long texts are easier to read as a raw string, if Go's raw strings can contain all their characters. */
export function goRawString(text: string): string {
  const isPlain = /^[^`\ufeff\p{Cc}]*$/u.test(text.replaceAll(/[\n\t]/g, ''));
  return isPlain ? `\`${text.toWellFormed()}\`` : goString(text);
}

/** PHP: single quotes have two escapes. Control characters need double quotes, where a dollar is special. */
export function phpString(text: string): string {
  const plain = text.toWellFormed();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters.
  if (!/[\x00-\x1f\x7f]/.test(plain)) return `'${plain.replaceAll(/[\\']/g, '\\$&')}'`;
  const escaped = plain.replaceAll(/[\\"$]/g, '\\$&');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the same.
  return `"${escaped.replaceAll(/[\x00-\x1f\x7f]/g, phpEscape)}"`;
}

const phpEscapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function phpEscape(character: string): string {
  return phpEscapes[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

interface Style {
  string(text: string): string;
  /** The name of a property and the separator before its value. */
  entry(name: string): string;
  list: [open: string, close: string];
  object: [open: string, close: string];
  none: string;
  yes: string;
  no: string;
  emptyObject: string;
  indent: string;
}

/** A JSON value as code, on several lines if it has several parts. */
function codeOf(style: Style, value: unknown, indent: string): string {
  if (typeof value === 'string') return style.string(value);
  if (value === null || value === undefined) return style.none;
  if (typeof value === 'boolean') return value ? style.yes : style.no;
  if (typeof value !== 'object') return String(value);
  const isList = Array.isArray(value);
  const [open, close] = isList ? style.list : style.object;
  const inner = indent + style.indent;
  const parts = isList
    ? value.map((item) => codeOf(style, item, inner))
    : Object.entries(value).map(([name, item]) => `${style.entry(name)}${codeOf(style, item, inner)}`);
  if (parts.length === 0) return isList ? `${open}${close}` : style.emptyObject;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

const javascript: Style = {
  string: javascriptString,
  entry: (name) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : javascriptString(name)}: `,
  list: ['[', ']'],
  object: ['{', '}'],
  none: 'null',
  yes: 'true',
  no: 'false',
  emptyObject: '{}',
  indent: '  ',
};

const python: Style = {
  ...javascript,
  string: pythonString,
  entry: (name) => `${pythonString(name)}: `,
  none: 'None',
  yes: 'True',
  no: 'False',
  indent: '    ',
};

const php: Style = {
  ...javascript,
  string: phpString,
  entry: (name) => `${phpString(name)} => `,
  object: ['[', ']'],
  emptyObject: 'new stdClass()',
  indent: '    ',
};

export const javascriptValue = (value: unknown, indent = ''): string => codeOf(javascript, value, indent);
export const pythonValue = (value: unknown, indent = ''): string => codeOf(python, value, indent);
export const phpValue = (value: unknown, indent = ''): string => codeOf(php, value, indent);
