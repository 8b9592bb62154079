import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { type SignedCall, signatureHeaders, spellSecret } from '../../platform/crypto/webhook-signature.ts';
import type { Alert } from './store.ts';

export type AlertEvent = 'raised' | 'cleared';

/** The body of a call, in the form of Standard Webhooks 1.0. Retries send the same body. */
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

/** There is a signature for each secret that is in use. */
export function alertHeaders(keys: KeyRing, call: SignedCall): Record<string, string> {
  return signatureHeaders(
    versionsInUse(keys).map((version) => keys.keyFor('alert-url', version)),
    call,
  );
}

/** The secret for the receiver, in the form of Standard Webhooks. */
export function alertSecret(keys: KeyRing): string {
  return spellSecret(keys.keyFor('alert-url', keys.version));
}

/** A rotation of the key ring makes a new secret; the one before keeps working until the next rotation. */
function versionsInUse(keys: KeyRing): number[] {
  return keys.versions.slice(0, 2);
}
