import { createCipheriv } from 'node:crypto';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, isId, toUuidText, uuidOf } from '../platform/ids.ts';
import type { StoredEvent } from './event.ts';
import { findEvents } from './event-store.ts';

/**
 * Event ids: time, masked position and key ring version, 16 bytes. A plain position would show how many events all
 * applications have. The mask is no proof: callers check that the application has an event with exactly this id.
 */
export interface EventIds {
  /** `evt_01…` */
  idOf(position: number, timeMs: number): string;
  /** Undefined if this service did not make the id. */
  positionOf(id: string): number | undefined;
  /** The time in the id, which may be forged. */
  timeOf(id: string): number | undefined;
}

export function createEventIds(keys: Pick<KeyRing, 'version' | 'versions' | 'keyFor'>): EventIds {
  /** 8 secret bytes for each version and millisecond. */
  function maskOf(version: number, time: Buffer): bigint {
    const block = Buffer.alloc(16);
    time.copy(block);
    const cipher = createCipheriv('aes-256-ecb', keys.keyFor('event-id', version), null).setAutoPadding(false);
    return cipher.update(block).readBigUInt64BE();
  }

  return {
    idOf(position, timeMs) {
      const bytes = Buffer.alloc(16);
      bytes.writeUIntBE(timeMs, 0, 6);
      // Uses the oldest version, so that an event keeps its id when the ring is rotated.
      const version = keys.versions.at(-1) ?? keys.version;
      const masked = BigInt(position) ^ maskOf(version, bytes.subarray(0, 6));
      bytes.writeUInt16BE(version, 6);
      bytes.writeBigUInt64BE(masked, 8);
      return fromUuid('evt', toUuidText(bytes));
    },
    timeOf: (id) => (isId('evt', id) ? bytesOf(id).readUIntBE(0, 6) : undefined),
    positionOf(id) {
      if (!isId('evt', id)) return undefined;
      const bytes = bytesOf(id);
      const version = bytes.readUInt16BE(6);
      if (!keys.versions.includes(version)) return undefined;
      const position = bytes.readBigUInt64BE(8) ^ maskOf(version, bytes.subarray(0, 6));
      return position <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(position) : undefined;
    },
  };
}

/** The event of the application that has this id. */
export async function findOwnEvent(
  { database, ids }: { database: Tx; ids: EventIds },
  applicationId: string,
  id: string,
): Promise<StoredEvent | undefined> {
  const position = ids.positionOf(id);
  const [event] = position === undefined ? [] : await findEvents(database, applicationId, [position]);
  return event !== undefined && ids.idOf(event.position, event.timeMs) === id ? event : undefined;
}

function bytesOf(id: string): Buffer {
  return Buffer.from(uuidOf(id).replaceAll('-', ''), 'hex');
}
