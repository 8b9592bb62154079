/**
 * The numbers of the guard by conversion. `npm run pumping` chose them: it tries others on its seeds for tuning, and judges
 * these on seeds that tuning never saw (docs/decisions/0024).
 */
export interface ConversionConstants {
  /** An honest group has at least this part of the usual share: of a country that is known well, and of another one. */
  leastOfKnown: number;
  leastOfOther: number;
  /** A country is known well after so many numbers in 28 days. */
  knownNumbers: number;
  /** An abused group has at most this part of the least share. */
  abusedPart: number;
  /** So much evidence (natural logarithm of the odds) makes a small group suspicious: alone, and while its country is abused. */
  evidence: number;
  evidenceInAbuse: number;
  /** The same for an address alone: people of one network may share it, and its texts may be lost. */
  evidenceOfAddress: number;
  /** The same for a wide prefix or a country, without the groups in it that are held: then the abuse is spread. */
  evidenceOfSpread: number;
  /** A suspicious group has so many times the usual numbers, and by so much evidence more than usual. */
  surge: number;
  surgeEvidence: number;
  /**
   * A country is abused if it has so many numbers, and this part of all, that neither approvals nor so many times the usual
   * traffic explain.
   */
  usualTimes: number;
  /** In two hours also so many times those of the day before. */
  yesterdayTimes: number;
  unexplained: number;
  unexplainedPart: number;
  /** It is abused as well while so many of its prefixes are held; and clients are, while so many of them are held. */
  heldGroups: number;
  /** Holds may cover this part of the users that an application usually has. */
  mostOfUsers: number;
  /** Unless there are so many unexplained numbers, and so many times a busy day's. */
  lastResort: number;
  lastResortDays: number;
  /** A hold is renewed while so many numbers more than usual want to pass. */
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
