/** The address without a trailing slash. `name` is the option or the setting that it comes from. */
export function readBaseUrl(given: string, name = 'baseUrl'): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new TypeError(`${name} must be the address of the service, such as https://sms.example.com.`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError(`${name} must begin with https:// or http://.`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError(`${name} must have no user, query or fragment.`);
  return url.href.replace(/\/+$/, '');
}

/** Checked here, because fetch would only fail later, at each call. The message never contains the secret. */
export function checkCredential(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^[\x20-\x7e]{1,1024}$/.test(value.trim())) return value.trim();
  throw new TypeError(`${name} must be 1 to 1024 visible ASCII characters.`);
}

/** The longest time that a timer can wait. */
const longestTimeoutMs = 2 ** 31 - 1 - 60_000;

export function checkTimeout(ms: number): number {
  if (Number.isFinite(ms) && ms > 0 && ms <= longestTimeoutMs) return ms;
  throw new TypeError(`timeoutMs must be a number of milliseconds from 1 to ${longestTimeoutMs}.`);
}
