import type { ConversionConstants } from '../../src/quality/conversion/constants.ts';
import { type Attack, attacks } from './attacks.ts';
import type { HonestTraffic } from './honest.ts';
import { attackFromHour, type Outcome, simulate } from './simulate.ts';
import { type Tenant, tenants } from './tenants.ts';

/** Constants are chosen by these seeds only. */
export const tuningSeeds: readonly number[] = [1, 2];
/** And judged by these, which tuning never sees. */
export const judgingSeeds: readonly number[] = Array.from({ length: 20 }, (_, index) => 1001 + index);

export const goals = { stopped: 0.95, newRefused: 0.05, honestRefused: 0.001 } as const;

export interface AttackResult {
  attack: Attack;
  tenant: Tenant;
  /** The share of its starts after its first 500 texts that were stopped, and of the new users that were refused. */
  stopped: number;
  newRefused: number;
  /** Of the worst seed. */
  leastStopped: number;
  mostRefused: number;
  ordered: number;
  sent: number;
  seeds: number;
}

export interface HonestResult {
  traffic: HonestTraffic;
  people: number;
  refused: number;
}

export interface HookResult extends Pick<Outcome, 'ordered' | 'sent' | 'mostOfPrefix' | 'mostOfNumber'> {
  attack: Attack;
  tenant: Tenant;
  /** Honest people. */
  refused: number;
}

export async function tryAttack(
  attack: Attack,
  tenant: Tenant,
  seeds: readonly number[],
  constants?: ConversionConstants,
): Promise<AttackResult> {
  const outcomes: Outcome[] = [];
  for (const seed of seeds)
    outcomes.push(await simulate({ tenant, seed, attack, hours: attackFromHour + attack.hours }, constants));
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((all, outcome) => all + of(outcome), 0);
  const stopped = (outcome: Outcome) => 1 - outcome.late.sent / Math.max(1, outcome.late.ordered);
  const refused = ({ underAttack }: Outcome) => underAttack.newRefused / Math.max(1, underAttack.newPeople);
  return {
    ...{ attack, tenant, seeds: seeds.length },
    stopped:
      1 -
      sum(({ late }) => late.sent) /
        Math.max(
          1,
          sum(({ late }) => late.ordered),
        ),
    newRefused:
      sum(({ underAttack }) => underAttack.newRefused) /
      Math.max(
        1,
        sum(({ underAttack }) => underAttack.newPeople),
      ),
    leastStopped: Math.min(...outcomes.map(stopped)),
    mostRefused: Math.max(...outcomes.map(refused)),
    ordered: sum(({ ordered }) => ordered),
    sent: sum(({ sent }) => sent),
  };
}

export async function tryHonest(
  traffic: HonestTraffic,
  seeds: readonly number[],
  constants?: ConversionConstants,
): Promise<HonestResult> {
  let [people, refused] = [0, 0];
  for (const scenario of seeds.flatMap(traffic.scenarios)) {
    const outcome = await simulate(scenario, constants);
    people += outcome.people;
    refused += outcome.refused;
  }
  return { traffic, people, refused };
}

/** An attack through a hook, whose server says nothing about its codes: only the counting rules are left. */
export async function tryThroughHook(attack: Attack, tenant: Tenant, seeds: readonly number[]): Promise<HookResult> {
  const outcomes: Outcome[] = [];
  for (const seed of seeds)
    outcomes.push(await simulate({ tenant, seed, attack, hours: attackFromHour + attack.hours, byHook: true }));
  const mean = (of: (outcome: Outcome) => number) => outcomes.reduce((all, each) => all + of(each), 0) / seeds.length;
  const most = (of: (outcome: Outcome) => number) => Math.max(...outcomes.map(of));
  return {
    ...{ attack, tenant },
    ordered: mean(({ ordered }) => ordered),
    sent: mean(({ sent }) => sent),
    mostOfPrefix: most(({ mostOfPrefix }) => mostOfPrefix),
    mostOfNumber: most(({ mostOfNumber }) => mostOfNumber),
    refused: mean(({ refused }) => refused),
  };
}

export const allAttacks = attacks.flatMap((attack) => tenants.map((tenant) => ({ attack, tenant })));
