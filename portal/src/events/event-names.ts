import type { EventType } from '../api/event-types.ts';

/** Every type but that of a test, which is sent on demand only. */
type ListedType = Exclude<EventType, 'webhook.test'>;

/** What each event tells, in the words of the guide. */
export const eventNames: Record<ListedType, string> = {
  'message.sent': 'The carrier accepted the text',
  'message.delivered': 'The phone has the text',
  'message.undelivered': 'The network could not deliver the text',
  'message.failed': 'The text could not be sent',
  'message.expired': 'The text was not delivered in time',
  'message.canceled': 'You canceled the text',
  'message.unknown': 'The carrier never told what became of the text',
  'message.received': 'A phone texted one of your numbers',
  'verification.approved': 'The right code was entered',
  'verification.failed': 'Too many wrong codes',
  'verification.expired': 'No right code was entered in time',
  'verification.canceled': 'You canceled the verification',
  'verification.blocked': 'The guard stopped the verification',
  'recipient.opted_out': 'A person wants no more texts',
  'recipient.opted_in': 'A person wants texts again',
};

export const eventTypes = Object.keys(eventNames) as ListedType[];

const groups: [prefix: string, title: string][] = [
  ['message.', 'Messages'],
  ['verification.', 'Verifications'],
  ['recipient.', 'Opt-outs'],
];

export const eventGroups = groups.map(([prefix, title]) => ({
  prefix,
  title,
  types: eventTypes.filter((type) => type.startsWith(prefix)),
}));

export function eventName(type: string): string {
  return eventNames[type as ListedType] ?? type;
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
