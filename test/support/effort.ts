/** `npm run test:long` tries everything at full size; `npm test` tries the same in short. */
const isLong = process.env.HELIOGRAPH_TEST_LONG === '1';

export function inShort<Amount>(short: Amount, long: Amount): Amount {
  return isLong ? long : short;
}

/** A check that the short form makes in another state. */
export async function alsoInLong(check: () => Promise<void>): Promise<void> {
  if (isLong) await check();
}
