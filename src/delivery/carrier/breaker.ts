import type { Clock } from '../../platform/clock.ts';

/** Stands for all countries. */
export const everyCountry = '*';

const windowMs = 60_000;
const bucketMs = 5000;
const buckets = windowMs / bucketMs;
const fewest = 20;
const probeEveryMs = 5000;
/** Refusals of one application that count within one window. */
const mostRefusals = 5;

interface Bucket {
  /** Index of the 5-second bucket. */
  index: number;
  total: number;
  failed: number;
}

interface Country {
  recent: Bucket[];
  refusals: { window: number; counts: Map<string, number> };
  /** Undefined while closed. `probing`: a probe has been under way since `sinceMs`. */
  opened: { sinceMs: number; probing: boolean } | undefined;
}

/**
 * Opens for a country when a carrier's texts to it do not get through. While it is open, texts go to other carriers, and one
 * text every 5 s tests whether the carrier works again.
 */
export function createBreaker(clock: Clock) {
  const countries = new Map<string, Country>();
  let openCount = 0;

  function find(country: string): Country {
    let found = countries.get(country);
    if (found === undefined) {
      const recent = Array.from({ length: buckets }, () => ({ index: -1, total: 0, failed: 0 }));
      found = { recent, refusals: { window: -1, counts: new Map() }, opened: undefined };
      countries.set(country, found);
    }
    return found;
  }

  function open(country: Country): void {
    if (country.opened === undefined) openCount++;
    country.opened = { sinceMs: clock.steadyMs(), probing: false };
  }

  function close(country: Country): void {
    if (country.opened !== undefined) openCount--;
    country.opened = undefined;
    for (const bucket of country.recent) Object.assign(bucket, { index: -1, total: 0, failed: 0 });
  }

  const hasPaused = ({ sinceMs }: { sinceMs: number }) => clock.steadyMs() - sinceMs >= probeEveryMs;

  /** Open, and not ready for a probe. */
  function isShut(country: Country | undefined): boolean {
    return country?.opened !== undefined && !hasPaused(country.opened);
  }

  function countsAsRefusal({ refusals }: Country, applicationId: string): boolean {
    const window = Math.floor(clock.steadyMs() / windowMs);
    if (refusals.window !== window) Object.assign(refusals, { window, counts: new Map() });
    const count = (refusals.counts.get(applicationId) ?? 0) + 1;
    if (count <= mostRefusals) refusals.counts.set(applicationId, count);
    return count <= mostRefusals;
  }

  function add({ recent }: Country, failed: boolean): void {
    const index = Math.floor(clock.steadyMs() / bucketMs);
    const bucket = recent[index % buckets];
    if (bucket === undefined) return;
    if (bucket.index !== index) Object.assign(bucket, { index, total: 0, failed: 0 });
    bucket.total++;
    if (failed) bucket.failed++;
  }

  function hasFailedOften({ recent }: Country): boolean {
    const oldest = Math.floor(clock.steadyMs() / bucketMs) - buckets;
    let total = 0;
    let failed = 0;
    for (const bucket of recent) {
      if (bucket.index <= oldest) continue;
      total += bucket.total;
      failed += bucket.failed;
    }
    return total >= fewest && failed * 2 >= total;
  }

  /** Handles a result while the breaker is not closed. */
  function noteOpened(country: Country, failed: boolean): void {
    const { opened } = country;
    if (opened === undefined) return;
    // Answers to texts that were under way when it opened do not count.
    if (failed && (opened.probing || hasPaused(opened))) open(country);
    else if (!failed && (opened.probing || hasPaused(opened))) close(country);
  }

  return {
    /** True while any country is not closed: only then do texts need a check. */
    get isAnyOpen(): boolean {
      return openCount > 0;
    },
    /** Whether a text may be submitted now. The first one after each pause may: it is the probe. */
    admits(name: string): boolean {
      if (openCount === 0) return true;
      const shut = [countries.get(everyCountry), countries.get(name)].filter((each) => each?.opened !== undefined);
      if (shut.some(isShut)) return false;
      for (const country of shut) if (country) country.opened = { sinceMs: clock.steadyMs(), probing: true };
      return true;
    },
    isOpen: (name: string): boolean =>
      openCount > 0 && [everyCountry, name].some((each) => isShut(countries.get(each))),
    /** Time until a text that was not admitted may be tried again: the rest of the 5 s. */
    restMs(name: string): number {
      const pauses = [everyCountry, name].map(
        (each) => countries.get(each)?.opened?.sinceMs ?? Number.NEGATIVE_INFINITY,
      );
      return Math.max(0, Math.max(...pauses) + probeEveryMs - clock.steadyMs());
    },
    /**
     * Notes whether a text got through. `refusedOf` is the application of a refused text: one application's texts must not
     * open the breaker for all others.
     */
    note(name: string, result: 'works' | 'fails', refusedOf?: string): void {
      const country = find(name);
      const failed = result === 'fails';
      if (failed && refusedOf !== undefined && !countsAsRefusal(country, refusedOf)) return;
      if (openCount > 0) {
        const all = countries.get(everyCountry);
        if (all !== undefined) noteOpened(all, failed);
        if (country.opened !== undefined) {
          noteOpened(country, failed);
          return;
        }
      }
      add(country, failed);
      if (failed && hasFailedOften(country)) open(country);
    },
    /** The account does not work: open for all countries. */
    openAll: (): void => open(find(everyCountry)),
    /** The countries whose texts should go elsewhere; `*` for all. */
    open(): string[] {
      if (openCount === 0) return [];
      return [...countries].filter(([, country]) => isShut(country)).map(([name]) => name);
    },
  };
}
