/** The last line, when it is there for a machine: `@example.com #123456`, or the hash of an Android app. */
const machineLine = /\n(@\S+ #\d+|[A-Za-z0-9+/]{11})$/;

export function splitAutofill(text: string): { said: string; autofill: string | undefined } {
  const found = machineLine.exec(text);
  if (found === null) return { said: text, autofill: undefined };
  return { said: text.slice(0, found.index), autofill: found[1] };
}

/** The code of a verification's text: what a phone would fill in, or else the first long run of digits. */
export function codeIn(text: string): string | undefined {
  const { said, autofill } = splitAutofill(text);
  return autofill?.match(/#(\d+)$/)?.[1] ?? said.match(/(?<!\d)\d{4,10}(?!\d)/)?.[0];
}
