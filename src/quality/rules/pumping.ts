// Tests: test/contract/guard-conversion.test.ts
import { clientKindOf } from '../../messages/client-scope.ts';
import { prefixOfGroup } from '../../messages/numbers/number-prefix.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { AlertRule, Condition } from '../alerts/alert.ts';
import type { HoldRow } from '../guard-hold-store.ts';

/** Groups that are held back, or only reported, while their holds last. */
export const suspectedPumping: AlertRule = ({ holds }) =>
  holds.map((hold): Condition => {
    const { applicationId, scope, country, acts, numbers, approved, untilMs } = hold;
    const until = toTimestamp(untilMs);
    return {
      // The key names the hold, not the client or its hash.
      key: `suspected_pumping ${applicationId} ${clientKindOf(scope) === undefined ? scope : hold.id}`,
      kind: 'suspected_pumping',
      carrier: null,
      country,
      applicationId,
      forMs: 0,
      summary: `Of ${numbers} numbers ${whereOf(hold)} that got a code of application ${applicationId}, ${approved} entered it. ${
        acts
          ? `Verifications are held back until ${until}, except one number in fifty and numbers approved in the last 28 days.`
          : 'The guard only reports this: it holds no verification back.'
      }`,
      advice: acts
        ? 'If these are real users, end the hold (guard-holds) and test the route. Otherwise, add the prefix or country to the guard’s blocked list.'
        : 'Check the application’s verifications. If it is pumping, lower its segments per day, or add the prefix or country to the guard’s blocked list.',
    };
  });

function whereOf({ scope, country }: HoldRow): string {
  const client = clientKindOf(scope);
  if (client !== undefined) return client === 'device' ? 'from one device' : 'from one address';
  if (!scope.startsWith('+')) return `in ${scope}`;
  return `that begin with ${prefixOfGroup(scope)}${country === null ? '' : ` (${country})`}`;
}
