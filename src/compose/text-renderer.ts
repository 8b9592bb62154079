import type { TextToSend } from '../messages/text/text-to-send.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { toPaymentCell } from '../verify/assurance/payment.ts';
import { codeOf } from '../verify/code.ts';
import { openCode } from '../verify/given/code.ts';
import { renderVerification, type VerificationTemplate } from '../verify/texts/verification-text.ts';

/** The stored parts of a verification's message. The code is not stored: it derives from the verification's id. */
export interface StoredTemplate extends VerificationTemplate {
  ringVersion: number;
  /** Instead of `ringVersion`, if the caller made the code: the version of the ring that it is sealed under. */
  sealedUnder?: number;
}

type Rendered = Pick<TextToSend, 'template' | 'verificationId' | 'body' | 'to'>;

/**
 * Renders a message's text for the carrier and for the inbox. No row has the code in clear: it is derived or unsealed
 * here each time.
 */
export function createTextRenderer(
  keys: KeyRing,
  environment: 'sandbox' | 'production',
): (message: Rendered, sealedCode?: Buffer) => string {
  return ({ template: stored, verificationId, body, to }, sealedCode) => {
    if (stored === null || verificationId === null) return body ?? '';
    const template = stored as StoredTemplate;
    const { ringVersion, sealedUnder, codeLength } = template;
    if (sealedUnder === undefined) {
      const payment = template.payment === undefined ? null : toPaymentCell(template.payment);
      const code = codeOf(keys, environment, { verificationId, ringVersion, codeLength, to, payment });
      return renderVerification(template, code);
    }
    if (sealedCode === undefined) throw new Error('the code of an ended verification is erased');
    return renderVerification(template, openCode(keys, { id: verificationId, ringVersion: sealedUnder }, sealedCode));
  };
}

/** Whether the caller made the code of this text. */
export function hasSealedCode({ template, verificationId }: Rendered): boolean {
  return verificationId !== null && (template as StoredTemplate | null)?.sealedUnder !== undefined;
}

/** A letter of GSM-7, so that the text has the length that it was sent with. */
const stand = 'Ξ';

/** The text of a code that is erased, with a dot for each digit. */
export function renderErased({ template }: Rendered): string {
  const { codeLength } = template as StoredTemplate;
  const code = stand.repeat(codeLength);
  return renderVerification(template as StoredTemplate, code).replaceAll(code, '•'.repeat(codeLength));
}
