import { Link } from 'wouter';

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The SMPP accounts of an application. */
export const words = {
  title: 'SMPP',
  about: 'For core banking, alarm systems and gateways that speak SMPP 3.4.',
  open: 'SMPP accounts',
  page: 'SMPP accounts',
  lead: 'A program binds with one of these accounts. Each text that it submits counts on the registration for SMS Messaging.',
  guide: (href: string) => (
    <>
      The guide <Link href={href}>Send by SMPP</Link> has the settings of Kannel, Jasmin, Java and Python.
    </>
  ),
  noPort: {
    title: 'No port is open for SMPP',
    text: 'Accounts can be made now. An operator opens a port with HELIOGRAPH_SMPP_PORT or HELIOGRAPH_SMPP_TLS_PORT.',
  },
  notRegistered: {
    title: 'Register for SMS Messaging first',
    text: (overview: string) => (
      <>
        Accounts need an approved registration for SMS Messaging, and cannot bind without it. Register on the{' '}
        <Link href={overview}>overview</Link>.
      </>
    ),
  },
  none: 'No accounts yet',
  noneNext: 'Create one for each program, so that you can end each by itself.',
  noneForViewer: 'Your role is viewer. Ask an owner or developer of this account to create one.',
  create: 'Create an account',
  createTitle: 'Create an SMPP account',
  binds: 'Binds at a time',
  bindsRule: '1 to 50, over all nodes.',
  addresses: 'Addresses that it may bind from',
  addressesRule:
    'One in each line: an address or a CIDR, none wider than /24 or /48. Empty for anywhere, which production allows by TLS only.',
  close: 'Close',
  submit: 'Create',
  shown: 'Settings for your SMPP client',
  once: 'Copy the password now. It will not be shown again.',
  why: 'Only a hash of it is stored. If you lose it, create a new one.',
  done: 'I have copied it',
  settings: {
    host: 'Host',
    port: 'Port',
    tlsPort: 'Port for TLS',
    systemId: 'system_id',
    password: 'Password',
    version: 'Version',
  },
  copy: (name: string) => `the ${name}`,
  created: 'Created',
  passwords: 'Passwords in force',
  from: 'May bind from',
  anywhere: 'anywhere',
  most: 'Binds at a time',
  waiting: 'Waits for a receiver',
  waitingText: (number: number) => (number === 0 ? 'nothing' : count(number, 'receipt')),
  since: 'since',
  bound: 'Binds now',
  notBound: 'Not bound.',
  columns: {
    mode: 'Kind',
    address: 'From',
    since: 'Since',
    perMinute: 'Last minute',
    submits: 'Submitted',
    throttled: 'Over the limit',
    refused: 'Rejected',
    delivered: 'Receipts taken',
  },
  withTls: 'TLS',
  problems: 'Rejected lately',
  noProblems: 'Nothing was refused.',
  problemColumns: { at: 'Time', command: 'Request', status: 'Answer', why: 'Why' },
  test: 'Send a test receipt',
  testing: 'Waits for a receiver, at most 5 seconds.',
  outcomes: {
    acknowledged: (ms: number) => `A receiver acknowledged it after ${ms} ms.`,
    unanswered: () => 'A receiver got it and did not answer it. It must answer each deliver_sm.',
    not_sent: () => 'No receiver is bound. Bind as a receiver or transceiver.',
  } as Record<string, (ms: number) => string>,
  what: 'password',
  older: 'Older passwords',
  delete: 'Delete',
  deleteQuestion: 'Delete this account?',
  deleteDetail: 'Its binds end at once, and receipts that wait for it are not sent.',
  deleted: 'Account deleted',
};
