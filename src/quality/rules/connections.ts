// Tests: test/contract/operator-alerts.test.ts
import { type BindState, canSend } from '../../delivery/carrier/bind-store.ts';
import { dayMs, minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { AlertRule, Condition } from '../alerts/alert.ts';
import type { AlertFacts, CarrierFacts } from '../alerts/facts.ts';

const about = (kind: Condition['kind'], { name, key }: CarrierFacts, part: string | number) => ({
  key: `${kind} ${key} ${part}`,
  kind,
  carrier: name,
  country: null,
  applicationId: null,
});

/** A worker runs the carrier, and none of its connections can send. */
export function isDown({ binds }: Pick<CarrierFacts, 'binds'>): boolean {
  return binds.length > 0 && !binds.some(canSend);
}

/** An urgent text that waits this long for a carrier without a connection raises the alert at once. */
const codeWaitsMs = 10_000;
/** How long a carrier is without any connection before the alert. From the poll to the page takes up to 15 s more. */
const allDownMs = 45_000;

/** A connection that is missing for a minute. A paused carrier keeps its connections, for receipts. */
export const bindDown: AlertRule = (facts) =>
  facts.carriers.flatMap((carrier): Condition[] => {
    const { name, binds, paused } = carrier;
    const isUrgent = isAwaited(facts, carrier);
    if (binds.length === 0)
      return [
        {
          ...about('bind_down', carrier, 'none'),
          forMs: isUrgent ? 0 : minuteMs,
          summary: `${name} is down: no worker runs it.`,
          advice: 'Start the service, or a node with HELIOGRAPH_ROLE=worker.',
        },
      ];
    const advice = paused
      ? `Receipts do not arrive. Test ${name}: each step shows what is wrong.`
      : `Test ${name}: each step shows what is wrong. Texts wait, or take another carrier of their route.`;
    if (isDown(carrier)) {
      const error = binds.find((bind) => bind.error !== null)?.error;
      const summary = `${name} is down: it has no connection.${error ? ` ${error}` : ''}`;
      return [{ ...about('bind_down', carrier, 'all'), forMs: isUrgent ? 0 : allDownMs, summary, advice }];
    }
    return binds.filter(isUnwell).map(({ slot, node, state, error }) => ({
      ...about('bind_down', carrier, slot),
      forMs: minuteMs,
      summary: `Connection ${slot} of ${name} on ${node} is ${state}.${error === null ? '' : ` ${error}`}`,
      advice,
    }));
  });

function isAwaited({ queues, nowMs }: AlertFacts, { key, paused, binds }: CarrierFacts): boolean {
  const isDown = !paused && !binds.some(canSend);
  const isOld = ({ carrier, lane, oldestAtMs }: AlertFacts['queues'][number]) =>
    carrier === key && lane === 'first' && nowMs - oldestAtMs > codeWaitsMs;
  return isDown && queues.some(isOld);
}

/** A carrier by HTTP that failed shows `ready` when it is to be tried again, and its error until it has answered. */
function isUnwell(bind: BindState): boolean {
  return !canSend(bind) || bind.state === 'degraded' || (bind.state === 'ready' && bind.error !== null);
}

/** The provider refuses our account: waiting does not help. */
export const accountRefused: AlertRule = ({ carriers }) =>
  carriers.flatMap((carrier): Condition[] => {
    const refused = carrier.binds.find((bind) => bind.refused === true);
    if (refused === undefined) return [];
    return [
      {
        ...about('account_refused', carrier, ''),
        forMs: 0,
        summary: `${carrier.name} refuses the account. ${refused.error ?? ''}`.trimEnd(),
        advice: 'Check the credentials, the allowed addresses and the balance at the provider.',
      },
    ];
  });

const warnedBeforeMs = 14 * dayMs;

/** A certificate that ends within two weeks, or has ended. */
export const certificateExpiry: AlertRule = ({ carriers, nowMs }) =>
  carriers.flatMap((carrier) => {
    const seen = carrier.binds.flatMap(({ certificateEndsAtMs: endsAtMs }) =>
      endsAtMs === undefined || endsAtMs === null ? [] : [{ what: 'the carrier’s certificate', endsAtMs }],
    );
    const ending = [...carrier.certificates, ...seen].filter(({ endsAtMs }) => endsAtMs <= nowMs + warnedBeforeMs);
    const byWhat = new Map(ending.toSorted((a, b) => b.endsAtMs - a.endsAtMs).map((each) => [each.what, each]));
    return [...byWhat.values()].map(({ what, endsAtMs }) => ({
      ...about('certificate_expiry', carrier, what),
      forMs: 0,
      summary: `${what[0]?.toUpperCase()}${what.slice(1)} of ${carrier.name} ${endsAtMs <= nowMs ? 'ended' : 'ends'} at ${toTimestamp(endsAtMs)}.`,
      advice: what.startsWith('the carrier')
        ? 'Ask the provider when it renews the certificate, and whether the new one has another CA.'
        : 'Put the new certificate into the carrier’s settings.',
    }));
  });
