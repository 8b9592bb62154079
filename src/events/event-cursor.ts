import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { randomBytes } from '../platform/crypto/random.ts';
import { fromUuid, isId, toUuidText, uuidOf } from '../platform/ids.ts';

/**
 * Cursors: positions in the feed of one application, 16 bytes in the format of event ids. The whole block is encrypted
 * with a key of the application, so after a change of any bit the check fails.
 */
export interface EventCursors {
  cursorAt(applicationId: string, position: number): string;
  /** Undefined if this service did not make the cursor, or made it for another application. */
  positionOf(applicationId: string, cursor: string): number | undefined;
}

// The check is 56 zero bits. Random bits make two cursors of one position differ: equal ones would reveal that others
// had no events.
const positionBytes = { at: 0, length: 7 };
const chanceBytes = { at: 7, length: 2 };
const checkBytes = { at: 9, length: 7 };
const nothing = Buffer.alloc(checkBytes.length);

export function createEventCursors(keys: Pick<KeyRing, 'version' | 'versionsSince' | 'keyFor'>): EventCursors {
  const keyOf = (applicationId: string, version: number): Buffer =>
    createHmac('sha256', keys.keyFor('event-cursor', version)).update(applicationId).digest();

  return {
    cursorAt(applicationId, position) {
      const block = Buffer.alloc(16);
      // A safe integer has 53 bits; Buffer writes 48 at a time.
      block.writeUInt8(Math.floor(position / 2 ** 48), positionBytes.at);
      block.writeUIntBE(position % 2 ** 48, positionBytes.at + 1, 6);
      randomBytes(chanceBytes.length).copy(block, chanceBytes.at);
      const cipher = createCipheriv('aes-256-ecb', keyOf(applicationId, keys.version), null).setAutoPadding(false);
      return fromUuid('evt', toUuidText(cipher.update(block)));
    },
    positionOf(applicationId, cursor) {
      if (!isId('evt', cursor)) return undefined;
      const enciphered = Buffer.from(uuidOf(cursor).replaceAll('-', ''), 'hex');
      for (const version of keys.versionsSince(0)) {
        const decipher = createDecipheriv('aes-256-ecb', keyOf(applicationId, version), null).setAutoPadding(false);
        const block = decipher.update(enciphered);
        if (!block.subarray(checkBytes.at).equals(nothing)) continue;
        const position = block.readUInt8(positionBytes.at) * 2 ** 48 + block.readUIntBE(positionBytes.at + 1, 6);
        return Number.isSafeInteger(position) ? position : undefined;
      }
      return undefined;
    },
  };
}
