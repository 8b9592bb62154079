import type { CodeWay } from '../../delivery/carrier/carrier.ts';
import type { TextToSend } from '../../messages/text/text-to-send.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { toPaymentCell } from '../../verify/assurance/payment.ts';
import { codeOf } from '../../verify/code.ts';
import { openCode } from '../../verify/given/code.ts';
import { languageOf } from '../../verify/texts/translations.ts';
import { renderVerification, type VerificationTemplate } from '../../verify/texts/verification-text.ts';

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
  const readCode = createCodeReader(keys, environment);
  return (message, sealedCode) => {
    const { template, verificationId, body } = message;
    if (template === null || verificationId === null) return body ?? '';
    return renderVerification(template as StoredTemplate, readCode(message, verificationId, sealedCode));
  };
}

/** The code itself and its language, for carriers that put it into a template of their own. */
export function createCodeWays(keys: KeyRing, environment: 'sandbox' | 'production') {
  const readCode = createCodeReader(keys, environment);
  return (message: Rendered, sealedCode?: Buffer): CodeWay | undefined => {
    const { template, verificationId } = message;
    const { channel, locale } = (template ?? {}) as Partial<StoredTemplate>;
    if (channel === undefined || verificationId === null) return undefined;
    const code = readCode(message, verificationId, sealedCode);
    const way = { channel, code, language: languageOf(locale ?? null) };
    if (channel !== 'voice') return way;
    return { ...way, inEnglish: renderVerification({ ...(template as StoredTemplate), locale: 'en' }, code) };
  };
}

const createCodeReader =
  (keys: KeyRing, environment: 'sandbox' | 'production') =>
  ({ template, to }: Rendered, verificationId: string, sealedCode: Buffer | undefined): string => {
    const { ringVersion, sealedUnder, codeLength, payment: paid } = template as StoredTemplate;
    if (sealedUnder === undefined) {
      const payment = paid === undefined ? null : toPaymentCell(paid);
      return codeOf(keys, environment, { verificationId, ringVersion, codeLength, to, payment });
    }
    if (sealedCode === undefined) throw new Error('the code of an ended verification is erased');
    return openCode(keys, { id: verificationId, ringVersion: sealedUnder }, sealedCode);
  };

/** The language that a text is in. */
export function languageOfText({ template }: Pick<Rendered, 'template'>): string {
  return languageOf((template as StoredTemplate | null)?.locale ?? null);
}

/** Whether the caller made the code of this text. */
export function hasSealedCode({ template, verificationId }: Rendered): boolean {
  return verificationId !== null && (template as StoredTemplate | null)?.sealedUnder !== undefined;
}

/** Replaces a digit of an erased code. It is a letter of GSM-7, so that the text keeps its length. */
const stand = 'Ξ';

/** The text of a code that is erased, with a dot for each digit. */
export function renderErased({ template }: Rendered): string {
  const { codeLength, channel } = template as StoredTemplate;
  const shown = renderVerification(template as StoredTemplate, stand.repeat(codeLength));
  // A call has pauses between the digits.
  const code = channel === 'voice' ? stand : stand.repeat(codeLength);
  return shown.replaceAll(code, '•'.repeat(code.length));
}
