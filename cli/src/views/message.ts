import type { Message } from '../../../sdk/src/index.ts';
import { dim, green, red, type Text, yellow } from '../terminal/text.ts';

/** A state in its colour: success, failure or pending. */
export function stateText(status: string): Text {
  if (['delivered', 'approved', 'up', 'active'].includes(status)) return green(status);
  if (['undelivered', 'failed', 'expired', 'blocked', 'down', 'refused'].includes(status)) return red(status);
  if (['canceled', 'unknown', 'paused', 'degraded', 'not_running'].includes(status)) return dim(status);
  return yellow(status);
}

/** The reason why a text did not arrive. */
export function errorText({ error }: Pick<Message, 'error'>): string {
  return error === null ? '' : `${error.message} (${error.code}${error.permanent ? ', permanent' : ''})`;
}

/** The time of day, with the date unless it is today. */
export function clockTime(timestamp: string, now = new Date()): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return timestamp;
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
