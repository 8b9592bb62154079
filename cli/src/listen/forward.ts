import { createHmac } from 'node:crypto';
import type { Event } from '../../../sdk/src/index.ts';
import { userAgent } from '../version.ts';

export interface Forwarded {
  /** The status of the response; null if there was none. */
  status: number | null;
  error: string | null;
  ms: number;
}

/** The service's own timeout for webhooks. */
const timeoutMs = 15_000;

/** Posts an event once, as the service would post its webhook (Standard Webhooks 1.0). */
export async function forward(url: string, secret: string, event: Event, signal: AbortSignal): Promise<Forwarded> {
  const body = JSON.stringify(event);
  const beganMs = performance.now();
  const taken = () => Math.round(performance.now() - beganMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...sign(secret, event.id, body) },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      // Never follow a redirect to another address.
      redirect: 'manual',
    });
    const ms = taken();
    await response.body?.cancel();
    return { status: response.status, error: null, ms };
  } catch (error) {
    signal.throwIfAborted();
    return { status: null, error: reasonOf(error), ms: taken() };
  }
}

function sign(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'no program listens there' : message;
}

export function isTaken({ status }: Forwarded): boolean {
  return status !== null && status >= 200 && status < 300;
}
