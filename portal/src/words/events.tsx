import { Link } from 'wouter';

/** Events of an application. */
export const words = {
  names: {
    'message.sent': 'Accepted by carrier',
    'message.delivered': 'Delivered to the phone',
    'message.undelivered': 'The network could not deliver the text',
    'message.failed': 'The text could not be sent',
    'message.expired': 'The text was not delivered in time',
    'message.canceled': 'You canceled the text',
    'message.unknown': 'The carrier did not report an outcome',
    'message.received': 'A person texted one of your numbers',
    'verification.approved': 'Correct code entered',
    'verification.failed': 'Too many wrong codes',
    'verification.expired': 'No correct code was entered in time',
    'verification.canceled': 'You canceled the verification',
    'verification.blocked': 'The guard blocked the verification',
    'recipient.opted_out': 'A person opted out of texts',
    'recipient.opted_in': 'A person opted in again',
  },
  filter: {
    all: 'All events',
    allOf: (group: string) => `All ${group.toLowerCase()}`,
    type: 'Type',
    subject: 'Record or reference',
    example: 'msg_… or order-4711',
  },
  groups: {
    messages: 'Messages',
    verifications: 'Verifications',
    optOuts: 'Opt-outs',
  },
  columns: ['Type', 'Number', 'Meaning', 'Time'],
  drawer: {
    kind: 'Event',
    notFound: { title: 'Event not found', next: 'Check the id. Events are kept for 7 days.' },
    number: 'Number',
    time: 'Time',
    sequence: 'Sequence',
    reference: 'Reference',
    record: 'Record',
    recordId: 'the id of the record',
  },
  row: {
    copy: (id: string) => `event ${id}`,
  },
  title: 'Events',
  lead: 'Every change of your texts and verifications, newest first.',
  live: 'Live',
  connecting: 'Connecting',
  tooMany:
    'There are too many earlier events to list. New events appear here. The page of each message and verification shows all its events.',
  empty: {
    title: 'No events yet',
    send: 'Send a text',
    next: (id: string) => (
      <>
        Events are kept from the moment something listens. This page listens now: what happened before has no event, and
        the next change appears here. To get events on your server, add a{' '}
        <Link href={`/applications/${id}/webhooks`}>webhook</Link>.
      </>
    ),
  },
  noMatch: {
    title: 'No matching events',
    next: 'Change the filter to see other events.',
  },
  off: {
    title: 'No events: nothing listens',
    start: 'Start now',
    next: (id: string) => (
      <>
        Events are kept from the moment something listens. Start now, and every change of the next 7 days has its event.
        It goes on while the application has a <Link href={`/applications/${id}/webhooks`}>webhook</Link> or reads the
        event feed.
      </>
    ),
  },
  deliveries: {
    delivered: 'Delivered to',
    waiting: 'Next attempt pending to',
    failed: 'Not delivered to',
    attempts: (count: number) => `(${count} ${count === 1 ? 'attempt' : 'attempts'})`,
  },
};
