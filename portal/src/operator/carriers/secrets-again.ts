type Settings = Record<string, unknown>;

/** Settings that decide which address secrets are sent to. */
const destinations = ['host', 'port', 'hosts', 'tls', 'preset', 'describe', 'base', 'ca'];

/** The stored secrets that an operator has to enter again: the service sends none to a new address. */
export function secretsToType(patch: Settings | undefined, stored: string[]): string[] {
  if (patch === undefined || !destinations.some((name) => isMoved(name, patch[name]))) return [];
  // Without TLS there is no private key.
  return stored.filter((name) => !isTyped(patch, name) && !(name === 'tls.key' && patch.tls === false));
}

/** A new private key alone changes no address. */
function isMoved(name: string, change: unknown): boolean {
  if (name !== 'tls' || !isObject(change)) return change !== undefined;
  return Object.keys(change).some((part) => part !== 'key');
}

function isTyped(patch: Settings, name: string): boolean {
  const [first = '', second] = name.split('.');
  const value = patch[first];
  if (second === undefined) return value !== undefined;
  return isObject(value) && value[second] !== undefined;
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
