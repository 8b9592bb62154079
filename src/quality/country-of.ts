import { routedCountryOf } from '../messages/numbers/phone-number.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';

/** The first digits that determine the country of a number with a shared calling code. */
const decidingCharacters = 9;
const mostKnown = 20_000;

/** Finds the country of each counted number. The parser takes longer than the counting, so each prefix is parsed once. */
export function createCountries(find: (to: string) => string | undefined = routedCountryOf): (to: string) => string {
  const known = createBoundedMap<string, string>(mostKnown);
  return (to) => {
    const prefix = to.slice(0, decidingCharacters);
    let country = known.get(prefix);
    if (country === undefined) {
      country = find(to) ?? '';
      known.set(prefix, country);
    }
    return country;
  };
}
