// Tests: test/contract/guard-conversion.test.ts
import { readBinds } from '../delivery/carrier/bind-store.ts';
import { carrierKey, readCarriers } from '../delivery/carrier/store.ts';
import type { Tx } from '../platform/database/database.ts';
import { nameOfCarrier } from './alerts/alert.ts';
import { readAlertsSince } from './alerts/store.ts';

/**
 * Alerts after which it is unknown whether texts without a receipt arrived. An attack can cause the others (throttling,
 * slow answers, fewer approvals), and would thereby blind the guard.
 */
const troubles = ['bind_down', 'account_refused', 'receipts_missing'] as const;

/** Whether a carrier had trouble with a country after it sent a text. */
export type InTrouble = (text: { carrier: string; country: string; sentAtMs: number }) => boolean;

/** Reads the troubles of carriers, now and since a time. */
export async function readTroubles(tx: Tx, sinceMs: number, nowMs: number): Promise<InTrouble> {
  const alerts = await readAlertsSince(tx, troubles, sinceMs);
  const carriers = await readCarriers(tx);
  const binds = await readBinds(
    tx,
    carriers.map(({ id }) => id),
    nowMs,
  );
  const open = carriers.map((carrier) => ({
    key: carrierKey(carrier),
    countries: binds.filter(({ carrierId }) => carrierId === carrier.id).flatMap((bind) => bind.open ?? []),
  }));
  return ({ carrier, country, sentAtMs }) =>
    open.some(({ key, countries }) => key === carrier && (countries.includes('*') || countries.includes(country))) ||
    alerts.some(
      (alert) =>
        alert.carrier === nameOfCarrier(carrier) &&
        (alert.country === null || alert.country === country) &&
        (alert.clearedAtMs === null || alert.clearedAtMs >= sentAtMs),
    );
}
