import { usageError } from '../process/exit.ts';

const seconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of `90`, `90s`, `10m`, `2h` or `1d`. */
export function readSpan(text: string, option: string): number {
  const [, amount, unit = 's'] = /^([0-9]{1,9})([smhd])?$/.exec(text) ?? [];
  if (amount === undefined) throw usageError(`${option} must be a time span like 90s, 10m, 2h or 1d.`);
  return Number(amount) * (seconds[unit] ?? 1);
}

/** A moment: a span from now, or a time like 2026-01-31T12:00:00Z. */
export function readMoment(text: string, option: string, nowMs: number): Date {
  if (/^[0-9]{1,9}[smhd]$/.test(text)) return new Date(nowMs + readSpan(text, option) * 1000);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const ms = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw usageError(`${option} must be a span like 10m or 2h, or a time like 2026-01-31T12:00:00Z.`);
  return new Date(ms);
}
