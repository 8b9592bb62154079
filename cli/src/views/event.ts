import type { Event } from '../../../sdk/src/index.ts';
import { bold, dim, pad, type Text } from '../terminal/text.ts';
import { clockTime, stateText } from './message.ts';

const typeWidth = 22;

/** An event on one line: time, type and record. */
export function eventText({ time, type, subject, data }: Event): Text {
  const [kind = '', state = ''] = type.split('.');
  const { to, from, message } = data as Record<string, unknown>;
  const number = type === 'message.received' ? from : to;
  const said = type === 'message.received' && typeof message === 'string' ? `  “${message}”` : '';
  return [
    dim(clockTime(time)),
    '  ',
    pad([dim(`${kind}.`), stateText(state)], typeWidth),
    typeof number === 'string' ? [' ', bold(number)] : '',
    said,
    dim(`  ${subject}`),
  ];
}
