// Tests: src/smpp/receipt.test.ts
/** The fields of a receipt's text that we use, as the carrier wrote them. */
export interface ReceiptText {
  id: string | null;
  stat: string | null;
  err: string | null;
}

/** Maximum number of characters read: a receipt has about 120. */
const longestReceipt = 1024;
const longestId = 64;
const longestWord = 32;

/** All keys that appear in receipts. Even an unused key ends the value before it. */
const keys = ['id', 'sub', 'dlvrd', 'submit date', 'done date', 'stat', 'err', 'text'] as const;
type Key = (typeof keys)[number];

/** Longer first, so that `submit date` is not read as `sub`. */
const keysByLength = [...keys].sort((a, b) => b.length - a.length);

interface Field {
  key: Key;
  start: number;
  valueStart: number;
}

/**
 * Reads `id:… sub:… stat:… err:… text:…` in any case and order, with `:` or `=`, with fields missing. Stops at the first
 * `text:`, because the rest repeats our text, which may hold `id:` and `stat:` of its own. One pass, no backtracking.
 */
export function readReceiptText(whole: string): ReceiptText {
  const text = whole.slice(0, longestReceipt);
  const lower = text.toLowerCase();
  const values: Partial<Record<Key, string>> = {};
  let open: Field | undefined;
  for (let at = 0; at <= lower.length; at++) {
    const found = at === lower.length ? undefined : keyAt(lower, at);
    if (found === undefined && at < lower.length) continue;
    if (open !== undefined) values[open.key] ??= text.slice(open.valueStart, at);
    if (found === undefined || found.key === 'text') break;
    open = found;
    at = found.valueStart - 1;
  }
  return {
    id: wordOf(values.id, longestId),
    stat: wordOf(values.stat, longestWord),
    err: wordOf(values.err, longestWord),
  };
}

/** A key stands at the start or after a character that is no part of a word, and before `:` or `=`. */
function keyAt(lower: string, start: number): Field | undefined {
  if (start > 0 && isWord(lower.charCodeAt(start - 1))) return undefined;
  for (const key of keysByLength) {
    if (!lower.startsWith(key, start)) continue;
    let at = start + key.length;
    if (lower[at] === ' ') at++;
    if (lower[at] === ':' || lower[at] === '=') return { key, start, valueStart: at + 1 };
  }
  return undefined;
}

/** Letters, digits, `_` and `-`: characters of ids. */
function isWord(character: number): boolean {
  const isDigit = character >= 0x30 && character <= 0x39;
  const isLetter = character >= 0x61 && character <= 0x7a;
  return isDigit || isLetter || character === 0x5f || character === 0x2d;
}

/** The first word of a value, without the quotes, commas and other marks that carriers put around it. */
function wordOf(value: string | undefined, longest: number): string | null {
  if (value === undefined) return null;
  const word =
    value
      .slice(0, 2 * longest)
      .trim()
      .split(/[\s,;|]/, 1)[0] ?? '';
  const bare = word.replaceAll(/["'\0]/g, '').slice(0, longest);
  return bare === '' ? null : bare;
}

/**
 * A large UK operator writes commas: status, time, accept time, error, to, from, id. 00 is delivered, 01 will be tried
 * again. Undefined for any other text.
 */
export function readCommaReceipt(text: string): ReceiptText | undefined {
  if (text.length > longestReceipt) return undefined;
  const fields = text.split(',', 8).map((field) => field.trim());
  const [status = '', , , err = '', , , id = ''] = fields;
  if (fields.length < 7 || !/^[0-9]{2}$/.test(status)) return undefined;
  const stat = status === '00' ? 'DELIVRD' : status === '01' ? 'ENROUTE' : status;
  return { id: wordOf(id, longestId), stat, err: wordOf(err, longestWord) };
}
