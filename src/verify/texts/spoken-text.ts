import { safeName } from './sender-name.ts';
import { spokenWords } from './spoken-words.ts';
import { languageOf } from './translations.ts';

/** What a call says: who calls, the code digit by digit, and all digits once more. Commas and full stops are pauses. */
export function spokenText({ app, locale }: { app: string; locale: string | null }, code: string): string {
  const words = spokenWords[languageOf(locale)];
  if (words === undefined) throw new Error('every language of texts has spoken words');
  // Providers would read these as markup.
  const name = safeName(app).replaceAll(/[<>]/g, ' ').trim();
  const digits = [...code].map((digit) => words.digits[Number(digit)] ?? digit).join(', ');
  const opening = name === '' ? words.bare : words.named.replace('{app}', () => name);
  return `${opening} ${digits}. ${words.again} ${digits}.`;
}
