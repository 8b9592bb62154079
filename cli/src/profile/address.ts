import { isIPv4 } from 'node:net';
import { usageError } from '../process/exit.ts';

/** The normalized address; undefined if it is invalid. */
export function readUrl(text: string): string | undefined {
  if (text.length > 2048 || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

export function requireUrl(text: string, where: string): string {
  const url = readUrl(text);
  if (url === undefined)
    throw usageError(`${where} must be an address like https://sms.example.com or http://127.0.0.1:8080.`);
  return url;
}

/** Whether the address is on this machine. */
export function isOnThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
}

/** Whether others on the network could read requests to it. */
export function isOpenToReaders(url: string): boolean {
  return new URL(url).protocol === 'http:' && !isOnThisMachine(url);
}
