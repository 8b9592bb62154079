import { createCarrierDirectory } from '../delivery/routing/directory.ts';
import { createRouteExplain, type Explained } from '../delivery/routing/explain.ts';
import type { Api } from '../http/route.ts';
import { carrierNameOf } from '../messages/message.ts';
import { loadPhoneNumbers, readNumber } from '../messages/numbers/phone-number.ts';
import { toTimestamp } from '../platform/clock.ts';
import { ApiError, StartError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';
import { isId } from '../platform/ids.ts';
import { createLog } from '../platform/log.ts';
import type { CarrierCommandParts } from './carrier-command-parts.ts';

const form = 'routes explain <number or message id> [--from=ACME] [--api=sms|verify|messaging] [--application=app_…]';
const apis: readonly string[] = ['sms', 'verify', 'messaging'];

/** `routes explain`: which carriers a text has, in which order, and why. */
export async function explainRoute(args: string[], parts: CarrierCommandParts): Promise<string> {
  const flags = new Map(args.filter((arg) => arg.startsWith('--')).map((arg) => splitFlag(arg)));
  const [about, ...more] = args.filter((arg) => !arg.startsWith('--'));
  const unknown = [...flags.keys()].some((name) => !['from', 'api', 'application'].includes(name));
  const api = flags.get('api') ?? null;
  if (about === undefined || more.length > 0 || unknown || (api !== null && !apis.includes(api)))
    throw new StartError(`Run: ${toRun('carriers', form)}`);
  const isMessage = isId('msg', about);
  const to = isMessage ? null : (readNumber(about) ?? null);
  if (!isMessage && to === null) throw new StartError('Give the number with its country code, like +447700900123.');
  await loadPhoneNumbers();
  const { database, clock, config } = parts;
  const directory = createCarrierDirectory({
    database,
    clock,
    log: createLog({ level: 'silent', readable: false }),
  });
  await directory.refresh();
  const explain = createRouteExplain({ database, clock, directory, environment: config.environment });
  const explained = await explain({
    messageId: isMessage ? about : null,
    to,
    from: flags.get('from') ?? null,
    api: api as Api | null,
    applicationId: flags.get('application') ?? null,
    draft: null,
  }).catch((error: unknown) => {
    throw error instanceof ApiError ? new StartError(error.message) : error;
  });
  return `\n${describe(explained).join('\n')}\n`;
}

function splitFlag(arg: string): [string, string] {
  const [name = '', ...value] = arg.slice(2).split('=');
  return [name, value.join('=')];
}

function describe({ decision, version, text }: Explained): string[] {
  const table = version === 0 ? 'There are no routes: every carrier may take it.' : `Version ${version} of the routes.`;
  if (decision.outcome === 'no_carrier') return [table, 'There is no carrier.'];
  if (decision.outcome === 'unroutable') return [table, 'No route leads there, so the text is refused.'];
  const { rule, candidates, from, deferredUntilMs } = decision;
  const lines = candidates.map(({ name, group, available, share, reason }, place) => {
    const part = text === undefined ? `${Math.round(share * 100)} %` : '';
    return `  ${place + 1}. ${name.padEnd(20)} ${group.padEnd(8)} ${available ? 'available' : 'not available'} ${part}  ${reason}`.trimEnd();
  });
  return [
    table,
    ...(rule === null ? [] : [`The route ${rule.name} matches.`]),
    ...(from === null ? [] : [`The sender becomes ${from}.`]),
    ...(deferredUntilMs === null ? [] : [`It waits until ${toTimestamp(deferredUntilMs)}.`]),
    ...lines,
    ...(text === undefined ? [] : [`The text is with ${carrierNameOf(text.carrier)}.`]),
  ];
}
