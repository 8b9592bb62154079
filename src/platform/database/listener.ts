import type { Database, Session } from './database.ts';

export interface Listener {
  stop(): Promise<void>;
}

export interface ListenerOptions {
  database: Database;
  channel: string;
  onNotified: (payload: string) => void;
}

const reopenAfterMs = 1000;

/**
 * Listens for NOTIFY on a dedicated connection and reopens it when it breaks. Notifications sent meanwhile are lost, so
 * the listener's user must also poll.
 */
export async function openListener({ database, channel, onNotified }: ListenerOptions): Promise<Listener> {
  let session: Session | undefined;
  let stopped = false;

  async function open(): Promise<void> {
    if (stopped) return;
    let lost = false;
    // A connection that breaks during setup is reported twice; reopen it once.
    const reopen = () => {
      if (lost || stopped) return;
      lost = true;
      setTimeout(() => void open(), reopenAfterMs).unref();
    };
    try {
      session = await database.openSession(reopen);
      session.onNotification((_channel, payload) => onNotified(payload));
      await session.query(`listen ${channel}`);
    } catch {
      reopen();
    }
  }
  await open();

  return {
    async stop() {
      stopped = true;
      await session?.close().catch(() => {});
    },
  };
}
