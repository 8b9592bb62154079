import { usageError } from '../process/exit.ts';

/** Numbers need a plus and the country code, as in the service. */
const number = /^\+[0-9 ().-]{1,63}$/;
const most = 1000;

export interface Recipients {
  to: string[];
  /** Undefined: it comes from stdin. */
  message: string | undefined;
}

/** Reads `+447700900123 +447700900124 "Hello"`: the numbers, then the text. */
export function readRecipients(written: readonly string[], message: string | undefined): Recipients {
  const first = written.findIndex((word) => !number.test(word));
  const to = first === -1 ? [...written] : written.slice(0, first);
  const rest = first === -1 ? [] : written.slice(first);
  const [text, ...more] = rest;
  if (to.length === 0 && text !== undefined) throw notNumber(text);
  if (to.length > most) throw usageError(`These are ${to.length} numbers. Send to at most ${most} per command.`);
  const [extra] = message === undefined ? more : rest;
  if (extra !== undefined) {
    if (/^[+0-9][0-9 ().-]{5,}$/.test(extra) || number.test(extra))
      throw usageError(`The text comes last, after ${extra}.`);
    throw usageError(`Unexpected argument: ${extra}`, 'Write the text as one argument, in quotes.');
  }
  const unique = [...new Set(to.map((each) => each.replaceAll(/[ ().-]/g, '')))];
  return { to: unique, message: message ?? text };
}

function notNumber(written: string): Error {
  return usageError(
    `${written} is not a phone number with its country code.`,
    'Write it like +447700900123. In a sandbox +15005550100 to +15005550109 always work.',
  );
}
