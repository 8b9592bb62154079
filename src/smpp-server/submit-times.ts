// Tests: src/smpp-server/submit-times.test.ts

const written = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d)(\d\d)([+\-R])$/;
const [secondMs, quarterMs] = [1000, 15 * 60_000];

/**
 * schedule_delivery_time and validity_period: `YYMMDDhhmmsstnnp`, a time with its offset in quarters of an hour, or with
 * `R` a time from now. Null for an empty one, undefined for one that cannot be read.
 */
export function readSmppTime(text: string, nowMs: number): number | null | undefined {
  if (text === '') return null;
  const found = written.exec(text);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, tenths = 0, quarters = 0] = found
    .slice(1, 9)
    .map(Number);
  if (found[9] === 'R') {
    const days = year * 365 + month * 30 + day;
    return nowMs + (((days * 24 + hour) * 60 + minute) * 60 + second) * secondMs;
  }
  const localMs = Date.UTC(2000 + year, month - 1, day, hour, minute, second);
  const back = new Date(localMs);
  const isDate = back.getUTCMonth() === month - 1 && back.getUTCDate() === day && back.getUTCHours() === hour;
  if (!isDate || minute > 59 || second > 59 || quarters > 48) return undefined;
  return localMs + tenths * 100 - (found[9] === '-' ? -quarters : quarters) * quarterMs;
}

/** `YYMMDDhhmmss000+`: a time in UTC. */
export function writeSmppTime(ms: number): string {
  return `${digitsOf(ms, 12)}000+`;
}

/** `YYMMDDhhmm`, as receipts write it. */
export function writeReceiptDate(ms: number): string {
  return digitsOf(ms, 10);
}

function digitsOf(ms: number, length: number): string {
  return new Date(ms)
    .toISOString()
    .replaceAll(/[-T:]/g, '')
    .slice(2, 2 + length);
}
