import type { Api } from '../http/route.ts';
import type { Encoding } from '../messages/text/text.ts';

/** A text that came to one of our numbers. */
export interface Inbound {
  id: string;
  /** Null if the number is given to no application. */
  applicationId: string | null;
  api: Exclude<Api, 'verify'> | null;
  carrier: string;
  from: string;
  to: string;
  /** Null after the retention time. */
  body: string | null;
  encoding: Encoding;
  segmentCount: number;
  characters: number;
  remaining: number;
  keyword: string | null;
  partial: boolean;
  possibleOptOut: boolean;
  receivedAtMs: number;
}

/** A text after its parts were joined. */
export interface Arrival {
  from: string;
  to: string;
  text: string;
  /** How many parts it came in. */
  parts: number;
  partial: boolean;
}

const longestAddress = 32;
/** Longer than 255 parts. */
const longestText = 65_536;

/** Makes a carrier's data storable: Postgres rejects NUL, lone surrogates and index entries that are too long. */
export function readableAddress(text: string): string {
  return text.slice(0, longestAddress).replaceAll('\0', '').toWellFormed();
}

export function readableText(text: string): string {
  return text.slice(0, longestText).replaceAll('\0', '').toWellFormed();
}
