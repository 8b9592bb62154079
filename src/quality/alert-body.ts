import { createHmac } from 'node:crypto';
import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import type { KeyRing } from '../platform/keys.ts';
import type { Alert } from './alert-store.ts';

export type AlertEvent = 'raised' | 'cleared';

/** The body of a call, as Standard Webhooks 1.0 has it. It stays the same in every try. */
export function alertBody(alert: Alert, event: AlertEvent, service: string): string {
  const { id, kind, carrier, country, applicationId, summary, advice, sinceMs, raisedAtMs, clearedAtMs } = alert;
  return JSON.stringify({
    type: `alert.${event}`,
    timestamp: toTimestamp(event === 'raised' ? raisedAtMs : (clearedAtMs ?? raisedAtMs)),
    data: {
      id,
      kind,
      carrier,
      country,
      application_id: applicationId,
      summary,
      advice,
      since: toTimestamp(sinceMs),
      raised_at: toTimestamp(raisedAtMs),
      cleared_at: timestampOrNull(clearedAtMs),
      service,
    },
  });
}

export interface SignedCall {
  id: string;
  timestampSeconds: number;
  body: string;
}

/** Headers by which the receiver knows that a call is ours. There is a signature for each secret that is in use. */
export function signatureHeaders(keys: KeyRing, { id, timestampSeconds, body }: SignedCall): Record<string, string> {
  const content = `${id}.${timestampSeconds}.${body}`;
  const signatures = versionsInUse(keys).map((version) => {
    const signature = createHmac('sha256', keys.keyFor('alert-url', version)).update(content).digest('base64');
    return `v1,${signature}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** The secret for the receiver, in the form of Standard Webhooks. */
export function alertSecret(keys: KeyRing): string {
  return `whsec_${keys.keyFor('alert-url', keys.version).toString('base64')}`;
}

/** A rotation of the key ring makes a new secret; the one before keeps working until the next rotation. */
function versionsInUse(keys: KeyRing): number[] {
  return keys.versions.slice(0, 2);
}
