import { type ConversionConstants, conversionConstants } from '../../src/quality/conversion/constants.ts';
import { allAttacks, tryAttack, tryHonest, tuningSeeds } from './goals.ts';
import { honestTraffic } from './honest.ts';

/** What else could be chosen. The constant itself is among them. */
const choices: Partial<Record<keyof ConversionConstants, readonly number[]>> = {
  evidence: [5, 6, 7, 9],
  evidenceInAbuse: [1, 1.5, 2, 3],
  evidenceOfAddress: [7, 10, 14, 20],
  evidenceOfSpread: [7, 10, 14],
  yesterdayTimes: [1.5, 2, 3],
  usualTimes: [1.15, 1.3, 1.6],
  unexplained: [10, 20, 40],
  heldGroups: [3, 4, 6],
  mostOfUsers: [0.02, 0.03, 0.04, 0.06],
  surge: [1.5, 2, 3],
  leastOfKnown: [0.6, 0.75, 0.85],
};

export interface Tried {
  constant: keyof ConversionConstants;
  value: number;
  isChosen: boolean;
  /** Of the attack for which it is worst. */
  leastStopped: number;
  mostRefused: number;
  honestRefused: number;
}

/** Changes one constant at a time, on the seeds for tuning alone. */
export async function tune(report: (tried: Tried) => void): Promise<void> {
  for (const [name, values] of Object.entries(choices)) {
    const constant = name as keyof ConversionConstants;
    for (const value of values) {
      const constants = { ...conversionConstants, [constant]: value };
      report({
        constant,
        value,
        isChosen: conversionConstants[constant] === value,
        ...(await tryAll(tuningSeeds, constants)),
      });
    }
  }
}

async function tryAll(seeds: readonly number[], constants: ConversionConstants) {
  let [leastStopped, mostRefused, people, refused] = [1, 0, 0, 0];
  for (const { attack, tenant } of allAttacks.filter((each) => each.attack.isTellable)) {
    const result = await tryAttack(attack, tenant, seeds, constants);
    leastStopped = Math.min(leastStopped, result.stopped);
    mostRefused = Math.max(mostRefused, result.newRefused);
  }
  for (const traffic of honestTraffic) {
    const result = await tryHonest(traffic, seeds, constants);
    people += result.people;
    refused += result.refused;
  }
  return { leastStopped, mostRefused, honestRefused: refused / people };
}
