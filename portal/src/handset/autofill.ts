/** A last line for phones: `@example.com #123456`, perhaps with a frame's ` @bank.example`, or the hash of an Android app. */
const machineLine = /\n(@\S+ #\d+(?: @\S+)?|[A-Za-z0-9+/]{11})$/;

export function splitAutofill(text: string): { said: string; autofill: string | undefined } {
  const found = machineLine.exec(text);
  if (found === null) return { said: text, autofill: undefined };
  return { said: text.slice(0, found.index), autofill: found[1] };
}

/** The code in a verification's text: from the autofill line, or else the first run of 4 to 10 digits. */
export function codeIn(text: string): string | undefined {
  const { said, autofill } = splitAutofill(text);
  return autofill?.match(/#(\d+)(?: @\S+)?$/)?.[1] ?? said.match(/(?<!\d)\d{4,10}(?!\d)/)?.[0];
}
