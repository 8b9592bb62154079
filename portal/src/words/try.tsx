import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** Try it: a form for each API, and the virtual handset. */
export const words = {
  handset: {
    autofill: 'Phones read this line to fill in the code',
    enterCode: (code: string) => `Use code ${code}`,
    to: (number: string) => `To ${number}`,
    title: 'Virtual handset',
    noNumber: 'No number',
    live: 'Live',
    connecting: 'Connecting…',
    texts: (number: string) => `Texts to ${number}`,
    empty: 'No texts yet. Send one.',
    numbers: 'Handsets',
    unread: (number: string, count: number) => `${number}, ${count} new`,
    segments: (count: number) => `${count} ${count === 1 ? 'segment' : 'segments'}`,
  },
  textRemoved: 'Text removed',
  check: {
    title: 'Check code',
    code: 'Code',
    approved: 'Number verified',
    wrong: (left: number) => `Wrong code, ${left} ${left === 1 ? 'attempt' : 'attempts'} left`,
    pending: 'Enter the code from the handset.',
    ended: (status: string, reason: string | null) => `Verification ${status}${reason === null ? '' : ` (${reason})`}`,
  },
  ms: (duration: number) => `${Math.round(duration)} ms`,
  exchange: {
    correlationId: (id: ReactNode) => <>Correlation id {id}</>,
    copyCurl: 'Copy as curl',
    copyResponse: 'Copy response',
    hide: 'Hide secret',
    reveal: 'Reveal secret',
    request: 'Request',
    response: 'Response',
    yourKey: 'YOUR_API_KEY',
    yourToken: 'YOUR_ACCESS_TOKEN',
    list: 'Requests and responses',
    listTitle: 'Requests and responses, newest first',
  },
  hint: {
    unauthorized:
      'The credential is mistyped, revoked, expired or not approved yet. Create a new one under Credentials.',
    forbidden: 'The token is valid, but it lacks the scope of this API.',
    unavailable: 'Nothing was sent. Try again in a moment.',
    noResponse: 'No response: the service cannot be reached',
    checkService: 'Check that it is running.',
    wrongCode: (status: number, left: number) =>
      `${status}: wrong code, ${left} ${left === 1 ? 'attempt' : 'attempts'} left`,
    notGood: (status: number, state: string, reason: string | undefined) =>
      `${status}: ${state}${reason === undefined ? '' : ` (${reason})`}`,
    succeeded: (status: number) => `${status}: request succeeded`,
    wait: (seconds: string) => `Wait ${seconds} s. Retrying sooner makes the wait longer.`,
  },
  form: {
    anyNumber: 'Any number works. Texts arrive on the handset of this page.',
    realPhone: 'This text goes to a real phone.',
    to: 'To',
    testNumbers: 'Test numbers',
    sample: 'Hello from Heliograph',
    send: 'Send a text',
    from: 'From',
    fromRule: 'Up to 11 letters, or a number',
    message: 'Message',
    submit: 'Send',
    api: 'API',
  },
  reply: {
    sender: 'Reply to',
    message: (to: string) => `Reply to ${to}`,
    send: 'Send reply',
  },
  result: {
    none: 'No response',
    limited: '429 · over the limit of the plan',
    plans: (href: string) => <Link href={href}>compare plans</Link>,
    sendIn: (label: string, seconds: number) => `${label} in ${seconds} s`,
  },
  title: 'Call the API',
  lead: 'These are real calls. They are sent by your session and count towards your plan.',
  notRegistered: 'Not registered for this API',
  choosePlan: (id: string) => (
    <>
      Choose a plan on the <Link href={`/applications/${id}`}>overview</Link> first.
    </>
  ),
  notApproved: 'An operator has not approved this registration yet. Nothing can be sent until then.',
  verify: {
    start: 'Start a verification',
    domain: 'Autofill domain (optional)',
    domainDetail: 'Lets a phone fill in the code on this site',
    domainExample: 'example.com',
    send: 'Send code',
    sendAgain: 'Send code again',
  },
};
