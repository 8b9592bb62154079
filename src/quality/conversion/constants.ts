/**
 * The numbers of the guard by conversion. `npm run pumping` chose them: it tunes them on some seeds, and judges them on
 * others (docs/decisions/0024).
 */
export interface ConversionConstants {
  /** An honest group has at least this fraction of the usual approval rate, in a well-known country and in others. */
  leastOfKnown: number;
  leastOfOther: number;
  /** A country is well known after this many numbers in 28 days. */
  knownNumbers: number;
  /** An abused group has at most this fraction of the least honest rate. */
  abusedPart: number;
  /**
   * Evidence (natural logarithm of the odds) that makes a small group suspicious: alone, and while its country is
   * abused.
   */
  evidence: number;
  evidenceInAbuse: number;
  /** Like `evidence`, for an address alone: people of one network may share it, and its texts may be lost. */
  evidenceOfAddress: number;
  /** Like `evidence`, for a wide prefix or a country, without its groups that are held: then the abuse is spread. */
  evidenceOfSpread: number;
  /** A suspicious group has at least this multiple of the usual numbers, with this evidence for the excess. */
  surge: number;
  surgeEvidence: number;
  /**
   * A country is abused if at least this many of its numbers, and this fraction of all, are unexplained by approvals
   * and by this multiple of the usual traffic.
   */
  usualTimes: number;
  /** Two hours of today also need this multiple of the numbers in the same hours of yesterday. */
  yesterdayTimes: number;
  unexplained: number;
  unexplainedPart: number;
  /** A country is also abused while this many of its prefixes are held; clients are while this many clients are held. */
  heldGroups: number;
  /** Holds may cover at most this fraction of an application's usual users. */
  mostOfUsers: number;
  /** The exception to `mostOfUsers`: at least this many unexplained numbers, and this multiple of a busy day. */
  lastResort: number;
  lastResortDays: number;
  /** A hold is renewed while this many more numbers than usual ask for a code. */
  renewing: number;
}

export const conversionConstants: ConversionConstants = {
  leastOfKnown: 0.75,
  leastOfOther: 0.5,
  knownNumbers: 300,
  abusedPart: 1 / 3,
  evidence: 7,
  evidenceInAbuse: 2,
  evidenceOfAddress: 14,
  evidenceOfSpread: 10,
  surge: 2,
  surgeEvidence: 5,
  usualTimes: 1.3,
  yesterdayTimes: 2,
  unexplained: 20,
  unexplainedPart: 0.15,
  heldGroups: 4,
  mostOfUsers: 0.04,
  lastResort: 1000,
  lastResortDays: 3,
  renewing: 4,
};
