import type { Message } from '../messages/message.ts';
import type { KeyRing } from '../platform/keys.ts';
import { codeOf } from '../verify/code.ts';
import { renderVerification, type VerificationTemplate } from '../verify/texts.ts';

/** What a verification's message is made from. The code is not in it: it derives from the verification's id. */
export interface StoredTemplate extends VerificationTemplate {
  ringVersion: number;
}

/** The text of a message as it leaves, and as the inbox shows it. A code exists here and nowhere else. */
export function createTextOf(keys: KeyRing, environment: 'sandbox' | 'production'): (message: Message) => string {
  return (message) => {
    if (message.template === null || message.verificationId === null) return message.body ?? '';
    const template = message.template as StoredTemplate;
    const code = codeOf(keys, environment, {
      verificationId: message.verificationId,
      ringVersion: template.ringVersion,
      codeLength: template.codeLength,
      recipient: message.recipient,
    });
    return renderVerification(template, code);
  };
}
