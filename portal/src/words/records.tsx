import type { ReactNode } from 'react';
import { words as listWords } from './list.ts';

/** Lists of messages and verifications, their search, and the drawer of one record. */
export const words = {
  search: {
    to: 'To',
    toPlaceholder: 'Number or part of it',
    status: 'Status',
    any: 'Any',
    reference: 'Reference',
    fromDay: 'From day',
    toDay: 'To day',
    submit: 'Search',
    clear: 'Clear',
    export: 'Export CSV',
    exportHint: 'The newest 10,000 that match',
  },
  list: {
    none: 'Nothing here yet',
  },
  messages: {
    api: 'API',
    bothApis: 'Both APIs',
    label: 'Messages',
    columns: ['Status', 'To', 'Message', 'Created'],
    none: 'No messages sent yet.',
    removed: 'Text removed',
    counted: (total: number) => listWords.counted(total, 'message', 'messages'),
  },
  batch: {
    title: 'batch',
    messages: (size: number) => listWords.counted(size, 'message', 'messages'),
    onPage: (count: number) => `${count} on this page`,
  },
  verifications: {
    label: 'Verifications',
    counted: (total: number) => listWords.counted(total, 'verification', 'verifications'),
    columns: ['Status', 'To', 'Details', 'Started'],
    none: 'No verifications started yet.',
    attemptsLeft: (count: number) => (count === 1 ? '1 attempt left' : `${count} attempts left`),
    text: (channel: string, status: string, left: string) =>
      `${{ voice: 'call', whatsapp: 'WhatsApp' }[channel] ?? 'text'} ${status}, ${left}`,
  },
  record: {
    createdBy: 'Created by request',
    correlationId: 'the correlation id',
  },
  message: {
    kind: 'Message',
    api: 'API',
    removed: 'The text was removed after the retention time.',
    permanent: ': permanent error, do not send it again',
    temporary: ': temporary error, you can send it again',
    to: 'To',
    from: 'From',
    segments: 'Segments',
    characters: 'Characters',
    reference: 'Reference',
    attempts: 'Attempts',
    duplicates: 'Possible duplicates',
    expires: 'Expires',
  },
  waiting: 'Not sent yet',
  verification: {
    kind: 'Verification',
    to: 'To',
    channel: 'Channel',
    payment: 'Payment',
    paid: (money: string, payee: string) => `${money} to ${payee}`,
    reason: 'Reason',
    wrongCodes: 'Wrong codes',
    attemptsLeft: 'Attempts left',
    sends: 'Sends',
    latest: 'Latest send',
    sentBy: (place: number, channel: string) => `${place}. ${channel}`,
    channels: { sms: 'Text', voice: 'Call', whatsapp: 'WhatsApp', inbound: 'Text of the person' } as Record<
      string,
      string
    >,
    reference: 'Reference',
    expires: 'Expires',
  },
  submits: {
    label: 'Attempts',
    columns: ['Time', 'Carrier', 'Outcome', 'Rule', 'Carrier’s id'],
    reported: (said: string) => `Carrier response: ${said}`,
    receipt: (status: string | null, said: string | null) =>
      `Delivery receipt: ${[status, said].filter((word) => word !== null).join(', ')}`,
    movedTo: (carrier: string) => `Sent through ${carrier} instead`,
  },
  heldBack: {
    title: 'Held back: this looks like SMS pumping',
    over: 'Many numbers like this one got a code, but almost no code was entered. The hold has ended: start the verification again.',
    inCountry: (country: string) => `in ${country}`,
    withPrefix: (prefix: string) => `that begin with ${prefix}`,
    fromClient: { address: 'from one address', program: 'from one program at one address', device: 'from one device' },
    holds: (numbers: number, which: string, approved: number, until: ReactNode) => (
      <>
        {numbers} numbers {which} got a code, and {approved} entered it. Until {until}, only one number in fifty passes,
        and every number that you approved in the last 28 days. If these are your users, end the hold on the overview.
        You can end one hold per day.
      </>
    ),
  },
};
