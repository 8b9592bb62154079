import { createHmac } from 'node:crypto';

/** Twilio's signature, as receivers check it: over the URL, then each parameter's name and value, sorted by name. */
export function signatureOf(token: string, url: string, parameters: Readonly<Record<string, string>>): string {
  const names = Object.keys(parameters).sort((a, b) => (a < b ? -1 : 1));
  const text = names.reduce((all, name) => all + name + parameters[name], url);
  return createHmac('sha1', token).update(text).digest('base64');
}
