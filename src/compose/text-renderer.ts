import type { TextToSend } from '../messages/text/text-to-send.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { codeOf } from '../verify/code.ts';
import { renderVerification, type VerificationTemplate } from '../verify/texts/verification-text.ts';

/** The stored parts of a verification's message. The code is not stored: it derives from the verification's id. */
export interface StoredTemplate extends VerificationTemplate {
  ringVersion: number;
}

/**
 * Renders a message's text for the carrier and for the inbox. Nothing stores the code: it is derived here each time.
 */
export function createTextRenderer(
  keys: KeyRing,
  environment: 'sandbox' | 'production',
): (message: TextToSend) => string {
  return (message) => {
    if (message.template === null || message.verificationId === null) return message.body ?? '';
    const template = message.template as StoredTemplate;
    const code = codeOf(keys, environment, {
      verificationId: message.verificationId,
      ringVersion: template.ringVersion,
      codeLength: template.codeLength,
      to: message.to,
    });
    return renderVerification(template, code);
  };
}
