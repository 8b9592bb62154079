import assert from 'node:assert/strict';

/** What a field is in Twilio's description of its API, version 2010-04-01 and Verify version 2. All may be null there. */
type Kind =
  | 'text'
  | 'flag'
  | 'whole'
  | 'digits'
  | 'list'
  | 'object'
  | 'any'
  | 'iso'
  | 'rfc2822'
  | 'url'
  | readonly string[]
  | Sid;
type Sid = `sid ${string}`;

const channels = ['sms', 'call', 'email', 'whatsapp', 'sna', 'rcs'] as const;
const ofVerification = {
  ...({ sid: 'sid VE', service_sid: 'sid VA', account_sid: 'sid AC', to: 'text', channel: channels } as const),
  ...({ status: ['pending', 'approved', 'canceled', 'max_attempts_reached', 'deleted', 'failed', 'expired'] } as const),
  ...({ valid: 'flag', amount: 'text', payee: 'text', date_created: 'iso', date_updated: 'iso' } as const),
};
const messageStatuses = [
  ...([
    'queued',
    'sending',
    'sent',
    'failed',
    'delivered',
    'undelivered',
    'receiving',
    'received',
    'accepted',
  ] as const),
  ...(['scheduled', 'read', 'partially_delivered', 'canceled'] as const),
];

export const shapes = {
  verification: {
    ...ofVerification,
    ...({ lookup: 'any', send_code_attempts: 'list', sna: 'any', url: 'url' } as const),
  },
  check: { ...ofVerification, sna_attempts_error_codes: 'list' },
  message: {
    ...({ sid: 'sid SM', account_sid: 'sid AC', messaging_service_sid: 'sid MG', api_version: 'text' } as const),
    ...({ body: 'text', to: 'text', from: 'text', status: messageStatuses, num_segments: 'digits' } as const),
    ...({ direction: ['inbound', 'outbound-api', 'outbound-call', 'outbound-reply'], num_media: 'digits' } as const),
    ...({ error_code: 'whole', error_message: 'text', price: 'text', price_unit: 'text', uri: 'text' } as const),
    ...({ date_created: 'rfc2822', date_updated: 'rfc2822', date_sent: 'rfc2822' } as const),
    subresource_uris: 'object',
  },
  page: {
    ...({ messages: 'list', page: 'whole', page_size: 'whole', start: 'whole', end: 'whole', uri: 'text' } as const),
    ...({ first_page_uri: 'text', next_page_uri: 'text', previous_page_uri: 'text' } as const),
  },
} satisfies Record<string, Record<string, Kind>>;

/** The same fields as Twilio's, each of its type. */
export function assertShape(name: keyof typeof shapes, value: unknown): void {
  const shape: Record<string, Kind> = shapes[name];
  const fields = value as Record<string, unknown>;
  assert.deepEqual(new Set(Object.keys(fields)), new Set(Object.keys(shape)), name);
  for (const [field, kind] of Object.entries(shape))
    assert.ok(
      fields[field] === null || isOf(kind, fields[field]),
      `${name}.${field} is ${JSON.stringify(fields[field])}`,
    );
}

function isOf(kind: Kind, value: unknown): boolean {
  if (typeof kind === 'object') return kind.includes(value as string);
  const text = typeof value === 'string' ? value : undefined;
  switch (kind) {
    case 'any':
      return value !== undefined;
    case 'text':
      return text !== undefined;
    case 'flag':
      return typeof value === 'boolean';
    case 'whole':
      return Number.isInteger(value);
    case 'list':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && !Array.isArray(value);
    case 'digits':
      return text !== undefined && /^[0-9]+$/.test(text);
    case 'iso':
      return text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text);
    case 'rfc2822':
      return text !== undefined && /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/.test(text);
    case 'url':
      return text !== undefined && URL.canParse(text);
    default:
      return text !== undefined && new RegExp(`^${kind.slice(4)}[0-9a-f]{32}$`).test(text);
  }
}
