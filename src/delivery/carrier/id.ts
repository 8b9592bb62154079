// Tests: test/parts/carrier-ids.test.ts
declare const isRead: unique symbol;

/** An id that a carrier gave, fit to be stored. Only `readCarrierId` makes one, and stores take no other. */
export type CarrierId = string & { readonly [isRead]: true };

const longestCarrierId = 255;
/** Characters that the longest part number adds to the id of its text. */
const longestSuffix = 4;

/** Makes an id storable: Postgres rejects NUL and lone surrogates, and limits the size of index entries. */
export function readCarrierId(id: string): CarrierId {
  return cut(id, longestCarrierId) as CarrierId;
}

/** The key for the receipt of one part, where all parts have the same id. */
export function partKey(id: string, part: number): CarrierId {
  return readCarrierId(`${cut(id, longestCarrierId - longestSuffix)}/${part}`);
}

function cut(id: string, longest: number): string {
  // NULs are removed before the cut, since they may be anywhere. Only the needed start of a huge id is read.
  return id
    .slice(0, 2 * longest)
    .replaceAll('\0', '')
    .slice(0, longest)
    .toWellFormed();
}

/** The maximum length of an id in SMPP. */
const longestShown = 65;

/** An id for a log, without control characters, cut to the length of an id. Null for none. */
export function shownCarrierId(id: string | null): string | null {
  return id === null || id === '' ? null : id.slice(0, longestShown).replaceAll(/[^\x21-\x7e]/g, '?');
}
