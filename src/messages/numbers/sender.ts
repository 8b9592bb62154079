const name = /^[A-Za-z0-9 .\-_&+]{1,11}$/;
const letter = /[A-Za-z]/;
const number = /^\+?[0-9]{3,15}$/;
const notInName = /[^A-Za-z0-9 .\-_&+]/u;

export const longestSender = 16;
const longestName = 11;
export const rightSender =
  '1 to 11 letters (A-Z, a-z), digits, spaces or . - _ & + with at least one letter, like ACME, ' +
  'or 3 to 15 digits with an optional plus, like 80123 or +447700900123';
const right = `must be ${rightSender}`;

/** For the reference: a name with a letter in it, or a number. */
export const shownSender = {
  anyOf: [
    {
      type: 'string',
      description: 'A name',
      maxLength: longestName,
      pattern: '^[0-9 .\\-_&+]*[A-Za-z][A-Za-z0-9 .\\-_&+]*$',
    },
    { type: 'string', description: 'A number or a short code', maxLength: longestSender, pattern: number.source },
  ],
};

/**
 * Why `from` can't be a sender (completes a sentence that begins with "from"), or undefined. ASCII letters only:
 * carriers drop or garble others, and a Cyrillic А that looks Latin is not the sender that was registered.
 */
export function senderProblem(from: string): string | undefined {
  if ((name.test(from) && letter.test(from)) || number.test(from)) return undefined;
  const stranger = notInName.exec(from)?.[0];
  if (stranger !== undefined) return `${right}; ${JSON.stringify(stranger)} is not allowed`;
  return `${right}; this has ${from.length} characters${letter.test(from) ? '' : ' and no letter'}`;
}

/** Whether a valid sender is a name, not a number. */
export function isSenderName(from: string): boolean {
  return letter.test(from);
}
