import { createHmac } from 'node:crypto';

/** The parts of a call that its signature covers (Standard Webhooks 1.0). */
export interface SignedCall {
  id: string;
  timestampSeconds: number;
  body: string;
}

/** Headers by which the receiver knows that a call is ours. There is a signature for each secret that is in use. */
export function signatureHeaders(
  secrets: readonly Buffer[],
  { id, timestampSeconds, body }: SignedCall,
): Record<string, string> {
  const content = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => `v1,${createHmac('sha256', secret).update(content).digest('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** A secret in the form that receivers are given. */
export function spellSecret(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`;
}
