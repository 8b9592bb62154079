/** `npm run test:long` tries everything at full size; `npm test` tries the same in short. */
const isLong = process.env.HELIOGRAPH_TEST_LONG === '1';

export function inShort<Amount>(short: Amount, long: Amount): Amount {
  return isLong ? long : short;
}

/** A look at what the short form has looked at already, in another state. */
export async function alsoInLong(look: () => Promise<void>): Promise<void> {
  if (isLong) await look();
}
