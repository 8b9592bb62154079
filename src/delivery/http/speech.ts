// Tests: src/delivery/http/speech.test.ts

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** A text within XML. Characters that XML does not allow are left out. */
export function xmlOf(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll(/[&<>"']/g, (each) => entities[each] ?? '');
}

/** What a voice says without a pause: an opening, one digit. */
const phrases = (text: string) => text.split(/(?<=[,.:：]) /);
const endsSentence = (phrase: string) => phrase.endsWith('.');

/** The inside of SSML's `speak`: a pause after each digit, and a longer one after each sentence. */
export function ssmlOf(text: string): string {
  const said = phrases(text).map((phrase) => {
    const ms = endsSentence(phrase) ? 900 : 400;
    return `${xmlOf(phrase)}<break time="${ms}ms"/>`;
  });
  return said.join(' ');
}

/**
 * TwiML that says a text in a language of Twilio's. Each phrase is a `Say` of its own, which every voice ends with a pause:
 * only some voices know the pauses of SSML.
 */
export function twimlOf(text: string, language: string): string {
  const pause = '<Pause length="1"/>';
  const said = phrases(text).map((phrase) => {
    const say = `<Say language="${xmlOf(language)}">${xmlOf(phrase)}</Say>`;
    return endsSentence(phrase) ? say + pause : say;
  });
  return `<Response>${pause}${said.join('')}</Response>`;
}
