import { routedCountryOf } from '../messages/numbers/phone-number.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';

/** No country of a shared calling code needs more digits of a number to be known. */
const decidingCharacters = 9;
const mostKnown = 20_000;

/** The country of each number that is counted. The parser takes longer than all other counting, so it is asked once a prefix. */
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
