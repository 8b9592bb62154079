import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { randomBytes } from '../platform/crypto/random.ts';
import { fromUuid, isId, toUuidText, uuidOf } from '../platform/ids.ts';

/**
 * Places in the feed of one application, 16 bytes that look like the id of an event. The whole block is enciphered with a
 * key of the application, so a changed bit makes another block of it, and the check finds that none of ours was.
 */
export interface EventCursors {
  cursorAt(applicationId: string, position: number): string;
  /** Undefined for a text that was not made here, or for another application. */
  positionOf(applicationId: string, cursor: string): number | undefined;
}

// The check is zero, 56 bits. Chance makes two cursors of one place differ, else a quiet reader would see others' events.
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
