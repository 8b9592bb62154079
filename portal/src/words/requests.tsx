import { Link } from 'wouter';
import { words as listWords } from './list.ts';

/** Recent requests, and the trace of one. */
export const words = {
  find: {
    title: 'Find a request',
    lead: 'Every response carries its correlation id in the X-Correlation-ID header.',
    label: 'Correlation id',
    placeholder: 'req_…',
    submit: 'Find',
  },
  list: {
    title: 'Recent requests',
    lead: 'The newest 1,000 of the last 24 hours.',
    status: 'Status',
    statuses: [
      { value: '', label: 'Any' },
      { value: '2xx', label: 'Succeeded (2xx)' },
      { value: 'error', label: 'Failed (4xx and 5xx)' },
      { value: '429', label: 'Rate-limited (429)' },
      { value: '4xx', label: 'Client errors (4xx)' },
      { value: '5xx', label: 'Server errors (5xx)' },
    ],
    api: 'API',
    any: 'Any',
    counted: (total: number) => listWords.counted(total, 'request', 'requests'),
    fromPortal: 'Try it',
    none: {
      title: 'No requests yet',
      next: (tryIt: string) => (
        <>
          Send one under <Link href={tryIt}>Try it</Link>, or with curl.
        </>
      ),
    },
    columns: ['Status', 'To', 'Request', 'Time'],
  },
  trace: {
    kind: 'Request',
    batch: (count: number) => `Batch of ${count}`,
    recordId: 'the id of the record',
    trace: 'Trace',
    traceId: 'the trace id',
    notFound: {
      title: 'No request found with this id.',
      next: 'The portal does not show requests of other accounts, requests without a valid credential, or requests older than a day that created no record. A new request may take a second to appear.',
    },
    application: 'Application',
    api: 'API',
    duration: 'Duration',
    milliseconds: (count: number) => `${count} ms`,
    limits: 'Limits',
    allowed: 'Allowed',
    limited: (limit: string) => `Rate-limited by the ${limit} limit`,
    left: 'Left this minute',
    leftOf: (left: number, limit: number) => `${left} of ${limit}`,
    retryAfter: 'Retry after',
    seconds: (count: number) => `${count} s`,
    now: 'Now',
  },
};
