import type { AppEvent, EventType } from '../api/event-types.ts';
import { words } from '../words/events.tsx';

/** Every type except for the test event, which is sent only on demand. */
type ListedType = Exclude<EventType, 'webhook.test'>;

/** What each event means, in the words of the guide. */
const names: Record<ListedType, string> = words.names;

export const eventTypes = Object.keys(names) as ListedType[];

const groups: [prefix: string, title: string][] = [
  ['message.', words.groups.messages],
  ['verification.', words.groups.verifications],
  ['recipient.', words.groups.optOuts],
];

export const eventGroups = groups.map(([prefix, title]) => ({
  prefix,
  title,
  types: eventTypes.filter((type) => type.startsWith(prefix)),
}));

export function eventName(type: string): string {
  return names[type as ListedType] ?? type;
}

const tones: Record<string, 'good' | 'bad' | 'calm' | 'plain'> = {
  delivered: 'good',
  approved: 'good',
  opted_in: 'good',
  sent: 'calm',
  received: 'calm',
  canceled: 'plain',
  unknown: 'plain',
};

export function toneOf(type: string) {
  return tones[type.slice(type.indexOf('.') + 1)] ?? 'bad';
}

/** The page of the record that an event is about, if it has one. */
export function recordHref(applicationId: string, subject: string): string | undefined {
  const tab = { msg: 'messages', ver: 'verifications' }[subject.slice(0, 3)];
  return tab === undefined ? undefined : `/applications/${applicationId}/${tab}/${subject}`;
}

/** The phone number that an event is about: a recipient, or a person who texted or opted out. */
export function numberOf({ type, data }: Pick<AppEvent, 'type' | 'data'>): string | null {
  const { to, from, number } = data as { to?: unknown; from?: unknown; number?: unknown };
  const found = type === 'message.received' ? from : (number ?? to);
  return typeof found === 'string' ? found : null;
}
