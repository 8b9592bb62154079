declare const isRead: unique symbol;

/** An id that a carrier gave, fit to be stored. Only `readCarrierId` makes one, and stores take no other. */
export type CarrierId = string & { readonly [isRead]: true };

const longestCarrierId = 255;
/** What the longest number of a part adds to the id of its text. */
const longestSuffix = 4;

/** Makes an id storable: Postgres rejects NUL and half characters, and its index entries have a maximum size. */
export function readCarrierId(id: string): CarrierId {
  return cut(id, longestCarrierId) as CarrierId;
}

/** What the receipt of one part of a text is kept under, where all parts have the same id. */
export function partKey(id: string, part: number): CarrierId {
  return readCarrierId(`${cut(id, longestCarrierId - longestSuffix)}/${part}`);
}

function cut(id: string, longest: number): string {
  // A NUL may stand anywhere, so they go before the end is cut off; of a huge id no more than needed is looked at.
  return id
    .slice(0, 2 * longest)
    .replaceAll('\0', '')
    .slice(0, longest)
    .toWellFormed();
}

/** As long as an id of SMPP may be. */
const longestShown = 65;

/** An id for a log: what a terminal would obey, and what is too long for an id, stays out. Null for none. */
export function shownCarrierId(id: string | null): string | null {
  return id === null || id === '' ? null : id.slice(0, longestShown).replaceAll(/[^\x21-\x7e]/g, '?');
}
