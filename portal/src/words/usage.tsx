import { Link } from 'wouter';

/** Usage of an application. */
export const words = {
  plan: (plan: string, perMinute: string, perSecond: string) =>
    `${plan} plan: ${perMinute} requests per minute, at most ${perSecond} per second.`,
  allowed: 'Allowed',
  limited: 'Rate-limited',
  started: 'Verifications started',
  approved: 'Approved',
  conversion: 'Conversion',
  messages: 'Messages',
  segments: 'Segments',
  verificationsByState: 'Verifications by status',
  messagesByState: 'Messages by status',
  none: 'None in this period.',
  quota: {
    left: (left: string, limit: string) => `${left} of ${limit}`,
    thisMinute: 'left this minute',
    fullIn: (seconds: number) => `left this minute, full again in ${seconds} s`,
  },
  spans: {
    hour: 'Last hour',
    day: 'Last day',
    month: 'Last month',
  },
  today: {
    title: 'Segments today',
    lead: 'Requests above the limit get a 402. The day starts at midnight UTC.',
    sent: 'Sent',
    limit: 'Limit',
    left: 'Left',
  },
  steps: {
    show: 'Show numbers',
    limit: 'Limit per minute',
  },
  chart: {
    showLimit: 'Show limit',
    label: (api: string, step: string, limit: string) => `${api}: requests per ${step}. The limit is ${limit}.`,
    limits: (limit: string, earlier: string[]) => (
      <>
        Limit: <strong>{limit}</strong>
        {earlier.length > 0 && ` (earlier: ${earlier.join(', ')})`}
      </>
    ),
    per: (count: string, step: string) => `${count} per ${step}`,
  },
  empty: {
    title: 'No usage yet',
    next: (id: string) => (
      <>
        Register for an API on the <Link href={`/applications/${id}`}>overview</Link>. Its requests then appear here.
      </>
    ),
  },
  span: 'Period',
};
