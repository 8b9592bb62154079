// Tests: test/hostile/carrier-secrets.test.ts
import { isDeepStrictEqual } from 'node:util';
import type { FieldProblem } from '../../platform/errors.ts';
import { isObject } from '../../platform/is-object.ts';
import { type CarrierSettings, splitCarrier } from './kinds.ts';

/** Settings that say where secrets go, and who can read them on the way. */
const destinations: Record<CarrierSettings['kind'], readonly string[]> = {
  smpp: ['host', 'port', 'hosts', 'tls'],
  http: ['preset', 'describe', 'base', 'ca'],
};

/**
 * The secrets that a change must name because they would go to another host: an operator may change a carrier
 * without knowing its secrets. `given` is what the operator wrote, `after` what it makes of `before`.
 */
export function secretsToGiveAgain(before: CarrierSettings, given: unknown, after: CarrierSettings): FieldProblem[] {
  const changed = destinations[after.kind].filter(
    (name) => !isDeepStrictEqual(placeOf(before, name), placeOf(after, name)),
  );
  if (changed.length === 0) return [];
  const [had, has] = [secretNames(before), secretNames(after)];
  return has
    .filter((name) => had.includes(name) && !isGiven(given, name.split('.')))
    .map((name) => ({
      field: `settings.${name}`,
      message: `must be given again with a change of ${changed.join(', ')}: a stored secret is not sent to another place`,
    }));
}

/** Leaves out the private key of TLS: it is a secret, not a destination. */
function placeOf({ settings }: CarrierSettings, name: string): unknown {
  const value = (settings as Record<string, unknown>)[name];
  return name === 'tls' && isObject(value) ? { ...value, key: undefined } : value;
}

/** The names of the secrets in the settings: `password`, `tls.key`, `auth_token`, `secrets.name`. */
function secretNames(carrier: CarrierSettings): string[] {
  const { password, tlsKey, fields = {} } = splitCarrier(carrier).secrets;
  return [
    ...(password === undefined ? [] : ['password']),
    ...(tlsKey === undefined ? [] : ['tls.key']),
    ...Object.keys(fields),
  ];
}

function isGiven(given: unknown, [name = '', ...rest]: string[]): boolean {
  const value = isObject(given) && Object.hasOwn(given, name) ? given[name] : undefined;
  return rest.length === 0 ? typeof value === 'string' : isGiven(value, rest);
}
