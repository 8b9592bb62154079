import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { words as listWords } from './list.ts';

/** Webhooks of an application. */
export const words = {
  deliveries: {
    all: 'All',
    delivered: 'Delivered',
    waiting: 'Waiting',
    failed: 'Failed',
    title: 'Deliveries',
    lead: 'Newest event first. Open one to see what was sent and what came back.',
    columns: ['Status', 'Number', 'Event', 'Time'],
    counted: (total: number) => listWords.counted(total, 'delivery', 'deliveries'),
    status: 'Status of deliveries',
    empty: 'No deliveries yet',
    emptyNext: (id: string) => (
      <>
        Send a text under <Link href={`/applications/${id}/try`}>Try it</Link>. Its events appear here after the first
        attempt.
      </>
    ),
  },
  delivery: {
    kind: 'Delivery',
    notFound: { title: 'Delivery not found', next: 'Check the id. Events and their deliveries are kept for 7 days.' },
    replayed: 'Event queued to be sent again',
    replayType: (type: string) => `Resend ${type}`,
    replay: 'Resend',
    next: 'Next attempt',
    time: 'Time',
    number: 'Number',
    sequence: 'Sequence',
    record: 'Record',
    recordId: 'the id of the record',
    attempts: (count: number) => `${count} ${count === 1 ? 'attempt' : 'attempts'}`,
  },
  attemptView: {
    title: (number: number) => `Attempt ${number}`,
    noResponse: 'no response',
    took: (milliseconds: number) => `${milliseconds} ms`,
    request: 'Request',
    response: 'Response',
    statusLine: (status: number | null) => `HTTP ${status ?? ''}`,
    signature: 'The body is rendered now. Signatures are not kept.',
    nothingCame: 'No response came.',
    notKept: 'The response is not kept: it is older than 7 days, or many came at once.',
    cut: '\n… (the first 2 kB)',
    copyBody: 'Copy body',
  },
  listen: {
    title: 'On your own machine',
    lead: 'Receives the events of this application and calls your server, signed like a webhook. No public address is needed. Run it in the folder where the command line is installed.',
    copy: 'the command',
    command: (id: string) => `npx --no-install heliograph listen --app ${id} --forward-to http://localhost:3000/`,
  },
  secret: {
    title: 'Your webhook secret',
    once: 'Copy the secret now. It will not be shown again.',
    why: 'Your server uses it to verify our signatures. If you lose it, create a new one.',
    copy: 'the secret',
    code: 'Code that verifies a webhook',
    done: 'I have copied it',
  },
  replay: {
    title: 'Replay a period',
    done: 'Events queued for replay',
    detail: 'Sends every event of the period again, oldest first, with its original id. Events are kept for 7 days.',
    from: 'From',
    to: 'To',
    toRule: 'Leave empty for the current time.',
    submit: 'Replay',
  },
  close: 'Close',
  events: 'Events',
  rotate: {
    now: 'expire now',
    hour: 'expire in an hour',
    day: 'expire in a day',
    week: 'expire in a week',
    month: 'expire in 30 days',
    label: (what: string) => `New ${what}`,
    title: (what: string) => `Create a new ${what}`,
    rule: 'Leave enough time to install the new one.',
    submit: 'Create',
  },
  test: {
    send: 'Send test',
    waiting: 'Waiting for your server, at most 15 seconds…',
  },
  types: {
    which: 'Which events',
    all: 'All events',
    some: 'Only some',
    count: (count: number) => `${count} ${count === 1 ? 'event type' : 'event types'}`,
  },
  code: {
    language: 'Language',
    typeScript: 'TypeScript',
    python: 'Python',
    php: 'PHP',
    copy: 'the code that verifies a webhook',
  },
  actions: {
    paused: 'Webhook paused',
    pause: 'Pause',
    edit: 'Edit',
    secret: 'secret',
    olderSecrets: 'Older secrets',
    delete: 'Delete',
    deleteQuestion: 'Delete this webhook?',
    deleted: 'Webhook deleted',
    deleteDetail: (url: string) =>
      `Events are no longer sent to ${url}. Its list of deliveries is deleted. You cannot undo this.`,
    editTitle: 'Edit webhook',
    save: 'Save',
    saved: 'Webhook saved',
  },
  form: {
    noEvent: 'Choose at least one event, or all events.',
    url: 'URL',
    urlSandbox: 'In the sandbox it may be on your own machine. Production needs https.',
    urlRule: 'An https address that is reachable from the internet.',
    exampleSandbox: 'http://127.0.0.1:3000/',
    example: 'https://example.com/heliograph',
    description: 'Description',
    descriptionRule: 'Optional: what receives the events.',
    descriptionExample: 'Order service',
  },
  list: {
    add: 'Add webhook',
    title: 'Webhooks',
    lead: 'We call your URL when a text or a verification changes, and sign every call.',
    empty: 'No webhooks yet',
    emptyNext: (id: string) => (
      <>
        Add the URL of your server to get every change of your texts at once. Without a server, read the feed (
        <code>GET /events/v1/events</code>) or watch the <Link href={`/applications/${id}/events`}>events</Link>.
      </>
    ),
  },
  page: {
    back: 'All webhooks',
    missing: 'Webhook not found',
    webhook: 'Webhook',
    status: 'Status',
    health: 'Health',
    all: 'All',
    created: 'Created',
    secrets: 'Secrets',
    verify: 'Verify the signature',
    verifyLead: 'Every call is signed as in Standard Webhooks 1.0.',
    showCode: 'Show code in TypeScript, Python and PHP',
    signing: (all: number, older: number) => `${all} sign, ${older === 1 ? 'the older one' : 'the older ones'} until`,
  },
  state: {
    resumed: 'Webhook resumed',
    enabled: 'Webhook enabled',
    paused: 'Webhook paused',
    disabled: 'Webhook disabled',
    disabledAt: 'Disabled',
    failing: 'Attempts are failing',
    gone: 'Your server answered 410 Gone.',
    noSuccess: 'No attempt succeeded for 5 days.',
    pausedNext: 'No events are sent. They wait until you resume the webhook, for up to 7 days.',
    resume: 'Resume',
    disabledNext:
      'Fix the cause, send a test, then enable the webhook. Events that occurred while it was disabled are not sent: replay them.',
    enable: 'Enable',
    failingSince: (since: ReactNode) => (
      <>
        No attempt has succeeded since {since}. Failed deliveries are retried. After 5 days without a success, the
        webhook is disabled. Check the errors below, then send a test.
      </>
    ),
  },
  health: {
    none: 'Nothing sent yet',
    failing: (since: ReactNode) => <>Failing since {since}</>,
    success: (at: ReactNode) => <>Last success {at}</>,
  },
  attempt: {
    failed: (error: string, took: string) => `${error} (after ${took})`,
    took: (milliseconds: string) => `${milliseconds} ms`,
    answered: (status: number | null, took: string) => `${status} in ${took}`,
  },
};
