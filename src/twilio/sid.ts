import { fromUuid, hexOf, type IdPrefix } from '../platform/ids.ts';

/** The prefixes of Twilio's ids, and the kind of record that each names here. */
const kinds = { AC: 'app', SK: 'app', VA: 'app', MG: 'app', VE: 'ver', VL: 'msg', SM: 'msg' } as const satisfies Record<
  string,
  IdPrefix
>;
export type SidPrefix = keyof typeof kinds;

/** An id of ours as Twilio would write it: its 16 bytes in hexadecimal digits. */
export function sidOf(prefix: SidPrefix, id: string): string {
  return prefix + hexOf(id);
}

/** The id of ours; undefined if the text is no sid of this kind. */
export function idOf(prefix: SidPrefix, sid: string): string | undefined {
  if (sid.length !== 34 || !sid.startsWith(prefix) || !/^[0-9a-f]{32}$/.test(sid.slice(2))) return undefined;
  return fromUuid(kinds[prefix], sid.slice(2));
}
