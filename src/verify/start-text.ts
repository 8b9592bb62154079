import type { Encoding } from '../messages/text.ts';
import { measure } from '../messages/text.ts';
import { senderName } from './sender-name.ts';
import { renderVerification, type VerificationTemplate } from './texts.ts';

/** What a verification's text is made from, measured. The code is not in it: it is derived when the text leaves. */
export interface StartText {
  template: VerificationTemplate;
  sender: string;
  encoding: Encoding;
  segmentCount: number;
  characters: number;
  remaining: number;
}

/**
 * Renders the text once with zeros for a code, before its start joins a batch: what a caller's name, locale or autofill
 * costs, and whatever might be wrong with it, is then that caller's alone.
 */
export function prepareText(template: VerificationTemplate): StartText {
  const text = renderVerification(template, '0'.repeat(template.codeLength));
  const { count, encoding, characters, remaining } = measure(text);
  return { template, sender: senderName(template.app), encoding, segmentCount: count, characters, remaining };
}

/** The same text for a code that is valid for so long. */
export function withMinutes(text: StartText, minutes: number): StartText {
  return minutes === text.template.minutes ? text : prepareText({ ...text.template, minutes });
}

/** Minutes as a text tells them: a begun one counts. */
export function toMinutes(ms: number): number {
  return Math.max(1, Math.ceil(ms / 60_000));
}
