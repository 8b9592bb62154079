// Tests: test/contract/verifications.test.ts
import { segmentsOfChannel } from '../../messages/channel.ts';
import { measure, type Segments } from '../../messages/text/text.ts';
import { createBoundedMap } from '../../platform/bounded-map.ts';
import { minuteMs } from '../../platform/clock.ts';
import { senderName } from './sender-name.ts';
import { renderVerification, type VerificationTemplate } from './verification-text.ts';

/**
 * The data that a verification's text is rendered from, with its size. The worker derives the code when it sends the
 * text.
 */
export interface PreparedText {
  template: VerificationTemplate;
  sender: string;
  segments: Segments;
}

/**
 * Renders the text with zeros as the code before the start joins a batch, so that cost and failures of a name, locale
 * or autofill affect only its own caller.
 */
export function prepareText(template: VerificationTemplate): PreparedText {
  // Not cached, because each payment has its own text.
  if (template.payment !== undefined) return prepare(template);
  const { app, locale, minutes, codeLength, autofill, own, channel = '' } = template;
  const ending = autofill === null ? '' : JSON.stringify(autofill);
  const key = `${channel} ${codeLength} ${minutes} ${locale} ${ending} ${own === undefined ? '' : JSON.stringify(own)} ${app}`;
  const known = prepared.get(key);
  if (known !== undefined) return known;
  const text = prepare(template);
  prepared.set(key, text);
  return text;
}

/** All starts of an application render the same text; rendering takes a tenth of a start. */
const prepared = createBoundedMap<string, PreparedText>(20_000);

function prepare(template: VerificationTemplate): PreparedText {
  const text = renderVerification(template, '0'.repeat(template.codeLength));
  const counted = segmentsOfChannel(template.channel ?? 'sms');
  const measured = measure(text);
  const segments = counted === undefined ? measured : { ...measured, count: counted, remaining: 0 };
  return { template, sender: senderName(template.app), segments };
}

/** A copy of the text with another validity. */
export function withMinutes(text: PreparedText, minutes: number): PreparedText {
  return minutes === text.template.minutes ? text : prepareText({ ...text.template, minutes });
}

/** Validity in minutes as the text states it, rounded up. */
export function toMinutes(ms: number): number {
  return Math.max(1, Math.ceil(ms / minuteMs));
}
