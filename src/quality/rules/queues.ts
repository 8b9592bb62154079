// Tests: test/contract/operator-alerts.test.ts
import type { Lane } from '../../messages/message.ts';
import { minuteMs } from '../../platform/clock.ts';
import { type AlertRule, type Condition, nameOfCarrier } from '../alerts/alert.ts';
import type { AlertFacts } from '../alerts/facts.ts';

const codesWaitMs = 10_000;
const bulkWaitsMs = 15 * minuteMs;

function waitingOver(facts: AlertFacts, lane: Lane, ms: number) {
  return facts.queues
    .filter((queue) => queue.lane === lane && facts.nowMs - queue.oldestAtMs > ms)
    .map(({ carrier, oldestAtMs }) => {
      const paused = facts.carriers.some(({ key, paused }) => key === carrier && paused);
      return { key: carrier, name: nameOfCarrier(carrier), waitedMs: facts.nowMs - oldestAtMs, paused };
    });
}

/** Texts of the first lane that wait too long: people wait for their codes. */
export const codesWaiting: AlertRule = (facts) =>
  waitingOver(facts, 'first', codesWaitMs).map(
    ({ key, name, waitedMs, paused }): Condition => ({
      key: `codes_waiting ${key}`,
      kind: 'codes_waiting',
      carrier: name,
      country: null,
      applicationId: null,
      forMs: 0,
      summary: `An urgent text has waited ${Math.round(waitedMs / 1000)} s for ${name}.`,
      advice: paused ? `Resume ${name}, or give its routes another carrier.` : adviceFor(name),
    }),
  );

export const bulkWaiting: AlertRule = (facts) =>
  waitingOver(facts, 'bulk', bulkWaitsMs).map(
    ({ key, name, waitedMs, paused }): Condition => ({
      key: `bulk_waiting ${key}`,
      kind: 'bulk_waiting',
      carrier: name,
      country: null,
      applicationId: null,
      forMs: minuteMs,
      summary: `The oldest due text has waited ${Math.round(waitedMs / minuteMs)} minutes for ${name}.`,
      advice: paused ? `Resume ${name}.` : adviceFor(name),
    }),
  );

function adviceFor(name: string): string {
  return `Check the list of stuck texts, the state of ${name}, and the rate that the provider allows.`;
}
