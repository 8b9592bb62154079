import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import { createPoller } from '../platform/work/poller.ts';

/** When each credential was last used: kept in memory, written in batches every few seconds. */
export interface LastUsed {
  note(credentialId: string): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const flushEveryMs = 5000;
/** Beyond this number per flush, uses are not noted: the next use notes them. */
const mostNoted = 100_000;

export function createLastUsed(database: Database, clock: Clock, log: Log): LastUsed {
  let noted = new Map<string, number>();
  const poller = createPoller({ run: flush, pauseMs: flushEveryMs });
  poller.start();

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const batch = noted;
    noted = new Map();
    const ids = [...batch.keys()].sort();
    try {
      for (const [prefix, statement] of touches) {
        const own = ids.filter((id) => id.startsWith(prefix));
        const times = own.map((id) => toTimestamp(batch.get(id) ?? 0));
        if (own.length > 0) await database.query(statement, [own, times]);
      }
    } catch (error) {
      // Only people read it, and the next use notes it again.
      log.debug({ reason: (error as Error).message }, 'last use could not be saved');
    }
  }

  return {
    note(credentialId) {
      if (noted.size < mostNoted || noted.has(credentialId)) noted.set(credentialId, clock.nowMs());
    },
    flush,
    async stop() {
      await poller.stop();
      await flush();
    },
  };
}

const touchKeys = {
  name: 'touch-api-keys',
  text: `update api_key k set last_used_at = u.at from unnest($1::text[], $2::timestamptz[]) as u(id, at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`,
};

const touchSecrets = {
  name: 'touch-client-secrets',
  text: `update client_secret s set last_used_at = u.at from unnest($1::text[], $2::timestamptz[]) as u(id, at)
    where s.id = u.id and (s.last_used_at is null or s.last_used_at < u.at)`,
};

const touchClientKeys = {
  name: 'touch-client-keys',
  text: `update client_key k set last_used_at = u.at from unnest($1::text[], $2::timestamptz[]) as u(id, at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`,
};

/** The function that notes a use, by the prefix of the credential's id. */
const touches = [
  ['key_', touchKeys],
  ['sec_', touchSecrets],
  ['cky_', touchClientKeys],
] as const;
