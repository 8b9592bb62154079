import type { Database, Session } from './database.ts';

export interface Listener {
  stop(): Promise<void>;
}

export interface ListenerOptions {
  database: Database;
  channel: string;
  onNotified: () => void;
}

const reopenAfterMs = 1000;

/**
 * Hears NOTIFY on a connection of its own, which is opened anew when it is lost. What is said meanwhile is not heard:
 * whoever listens also looks by itself now and then.
 */
export async function openListener({ database, channel, onNotified }: ListenerOptions): Promise<Listener> {
  let session: Session | undefined;
  let stopped = false;

  async function open(): Promise<void> {
    if (stopped) return;
    let lost = false;
    // A connection that breaks while it is set up is told of twice; one other is enough.
    const reopen = () => {
      if (lost || stopped) return;
      lost = true;
      setTimeout(() => void open(), reopenAfterMs).unref();
    };
    try {
      session = await database.openSession(reopen);
      session.onNotification(onNotified);
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
