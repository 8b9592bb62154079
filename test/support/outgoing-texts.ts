import type { OutgoingText } from '../../src/delivery/carrier/carrier.ts';

/** A text as a worker gives it to a carrier. */
export function outgoingText(changes: Partial<OutgoingText> = {}): OutgoingText {
  return {
    messageId: 'msg',
    attempt: 1,
    applicationId: '',
    lane: 'bulk',
    isCode: false,
    to: '+447700900123',
    from: 'ACME',
    text: 'Hello',
    templateId: null,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    parts: [],
    form: null,
    ...changes,
  };
}
