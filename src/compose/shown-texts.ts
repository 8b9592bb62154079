import type { OutgoingText } from '../delivery/carrier/carrier.ts';
import type { ReceiptSource } from '../delivery/receipts/apply.ts';
import { findMessages } from '../messages/message-store.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { fromUuid } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Handsets } from '../sandbox/handsets.ts';

const togetherMs = 20;

/** In the sandbox the virtual phones show texts of configured carriers too: once, when they are delivered. */
export function createShownTexts(options: {
  database: Database;
  handsets: Pick<Handsets, 'show'>;
  /** The carrier of the virtual phones: its texts are there already. */
  phonesKey: string;
  log: Log;
}) {
  const { database, handsets, phonesKey, log } = options;

  return {
    /** Runs in the transaction of the receipts, so that each text appears once, even after a crash. */
    async onDelivered(tx: Tx, { key }: ReceiptSource, uuids: string[]): Promise<void> {
      if (key === phonesKey) return;
      const messages = await findMessages(
        tx,
        uuids.map((uuid) => fromUuid('msg', uuid)),
      );
      const texts = messages.map(({ id: messageId, applicationId, to }) => ({ messageId, applicationId, to }));
      await handsets.show(tx, texts);
    },

    /** Shows the texts of one carrier when they are sent: only those that no receipt will show. */
    whenSent(): (text: OutgoingText) => void {
      let waiting: OutgoingText[] = [];
      // Many texts share one insert.
      const showAll = () => {
        const texts = waiting;
        waiting = [];
        handsets.show(database, texts).catch(({ message: reason }: Error) => {
          log.debug({ texts: texts.length, reason }, 'sent texts are not shown on their virtual phones');
        });
      };
      return (text) => {
        if (waiting.push(text) === 1) setTimeout(showAll, togetherMs);
      };
    },
  };
}
