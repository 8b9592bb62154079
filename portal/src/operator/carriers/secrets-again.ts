type Settings = Record<string, unknown>;

/** Settings that say where secrets go. */
const destinations = ['host', 'port', 'hosts', 'tls', 'preset', 'describe', 'base', 'ca'];

/** Which of the stored secrets an operator has to type again: the service sends none to another place. */
export function secretsToType(patch: Settings | undefined, stored: string[]): string[] {
  if (patch === undefined || !destinations.some((name) => isMoved(name, patch[name]))) return [];
  // Without TLS there is no private key.
  return stored.filter((name) => !isTyped(patch, name) && !(name === 'tls.key' && patch.tls === false));
}

/** A new private key alone changes no place. */
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
