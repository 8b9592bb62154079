/** The outcome of a request as its caller knows it: `unknown` is no answer or a 5xx, so the record may exist or not. */
export type Outcome = 'nothing' | 'accepted' | 'refused' | 'unknown';

const outcomes: Outcome[] = ['nothing', 'accepted', 'refused', 'unknown'];

/** Everything that is known of numbered records, in a few bytes for each: a long run makes hundreds of thousands. */
export interface RecordBook {
  /** A number that no record had before. Records carry it in their reference. */
  newNumber(): number;
  /** How many numbers were given. */
  readonly size: number;
  note(number: number, outcome: Outcome): void;
  outcomeOf(number: number): Outcome;
  /** Counts what reached a carrier or was approved, up to 255; returns the new count. */
  count(number: number): number;
  countOf(number: number): number;
  /** Notes that a caller got no answer about this record, so that it may be further than callers know. */
  doubt(number: number): void;
  isDoubtful(number: number): boolean;
  /** Notes that a listener received this event. False if it had received it before. */
  hear(listener: number, number: number, sequence: number): boolean;
  heard(listener: number, number: number, sequence: number): boolean;
}

/** A record has no more events than this; a later one counts as the last. */
const mostSequence = 8;

export function createRecordBook(listeners: number): RecordBook {
  let size = 0;
  let noted = new Uint8Array(4096);
  let counts = new Uint8Array(4096);
  const doubtful = new Set<number>();
  let hears = Array.from({ length: listeners }, () => new Uint8Array(4096));
  const twice = (old: Uint8Array) => {
    const larger = new Uint8Array(2 * old.length);
    larger.set(old);
    return larger;
  };
  const bitOf = (sequence: number) => 1 << (Math.min(sequence, mostSequence) - 1);
  return {
    newNumber() {
      if (size === noted.length) {
        noted = twice(noted);
        counts = twice(counts);
        hears = hears.map(twice);
      }
      return size++;
    },
    get size() {
      return size;
    },
    note(number, outcome) {
      noted[number] = outcomes.indexOf(outcome);
    },
    outcomeOf: (number) => outcomes[noted[number] ?? 0] ?? 'nothing',
    count(number) {
      const more = Math.min(255, (counts[number] ?? 0) + 1);
      counts[number] = more;
      return more;
    },
    countOf: (number) => counts[number] ?? 0,
    doubt: (number) => void doubtful.add(number),
    isDoubtful: (number) => doubtful.has(number),
    hear(listener, number, sequence) {
      const own = hears[listener];
      if (own === undefined || number >= size) return false;
      const before = own[number] ?? 0;
      own[number] = before | bitOf(sequence);
      return (before & bitOf(sequence)) === 0;
    },
    heard: (listener, number, sequence) => ((hears[listener]?.[number] ?? 0) & bitOf(sequence)) !== 0,
  };
}

/** `t12` is record 12 of the book of texts. */
export function readNumber(letter: string, reference: unknown): number | undefined {
  if (typeof reference !== 'string' || reference[0] !== letter) return undefined;
  const digits = reference.slice(1);
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}
