// Tests: test/smpp/carrier.test.ts, test/smpp/carrier-faults.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { BindState as ShownBind } from '../carrier/bind-store.ts';
import type { OutgoingText, ReceiveReceipts } from '../carrier/carrier.ts';
import type { CarrierFacts } from '../carrier/configured.ts';
import type { LogEntry } from '../carrier/log-store.ts';
import { receiptKeysOf } from '../carrier/receipt-keys.ts';
import { doubtOf, drainMs, type RunningCarrier, watchAccepted } from '../carrier/running.ts';
import type { BindSlots, WantedSlots } from '../carrier/slots.ts';
import { type BindSupervisor, createBindSupervisor } from './bind-supervisor.ts';
import { createPduLog, type PduLog } from './pdu-log.ts';
import { createReceiptInbox, type DeliveredCount, type ReceiptInbox } from './receipt-inbox.ts';
import { createSmppSender } from './sender.ts';
import type { SmppSettings } from './settings.ts';
import { createCarrierTrial } from './trial.ts';

export type ConfiguredSmppCarrier = CarrierFacts & { kind: 'smpp'; settings: SmppSettings };

export interface SmppCarrierOptions {
  configured: ConfiguredSmppCarrier;
  /** All nodes together hold at most as many slots as the carrier allows binds. */
  slots: BindSlots;
  clock: Clock;
  /** The default for plain texts in doubt. */
  byDefault: { resend: boolean; afterMs: number };
  isAllowedAddress: (address: string) => boolean;
  onCount: (name: DeliveredCount) => void;
  /** Called for each accepted text that will get no receipt. */
  onUnreported?: ((text: OutgoingText) => void) | undefined;
  /** A connection has come or gone. */
  onBindsChange?: (() => void) | undefined;
}

/** A submit is answered within `response_seconds`. A text may wait this much longer in total. */
const marginMs = 15_000;

/** A carrier that is reached by SMPP 3.4: the binds that this node holds, and one sender over all of them. */
export function createSmppCarrier(options: SmppCarrierOptions): RunningCarrier<ConfiguredSmppCarrier> {
  const { slots, clock, byDefault, isAllowedAddress, onCount, onUnreported, onBindsChange } = options;
  const { key, account, id } = options.configured;
  let current = options.configured.settings;
  const settings = () => current;
  const binds = new Map<number, { supervisor: BindSupervisor; pduLog: PduLog }>();
  let supervisors: BindSupervisor[] = [];
  let inbox: ReceiptInbox | undefined;
  let wanted: WantedSlots | undefined;
  let onCapacity = () => {};
  const sender = createSmppSender({
    settings,
    clock,
    binds: () => supervisors,
    onCapacity: () => onCapacity(),
    onAccepted: (carrierMessageId) => inbox?.noteId(carrierMessageId),
  });
  const trial = createCarrierTrial({
    settings,
    clock,
    isAllowedAddress,
    supervisors: () => supervisors,
    submit: sender.submit,
  });

  function addBind(slot: number, justUnbound: boolean): void {
    const pduLog = createPduLog(clock);
    const supervisor = createBindSupervisor({
      slot,
      settings,
      clock,
      log: pduLog,
      isAllowedAddress,
      justUnbound,
      mayTry: () => !trial.isConnecting,
      onDeliver: (delivery) => inbox?.take(delivery) ?? notStarted(),
      onChange: sender.pump,
      onState: onBindsChange,
    });
    binds.set(slot, { supervisor, pduLog });
    changeBinds();
  }

  async function removeBind(slot: number, withinMs: number): Promise<void> {
    const bind = binds.get(slot);
    if (bind === undefined) return;
    await bind.supervisor.stop(withinMs);
    if (binds.get(slot) === bind) binds.delete(slot);
    changeBinds();
  }

  /** The slots share the account's rate: a node's share is its number of slots. */
  function changeBinds(): void {
    supervisors = [...binds.values()].map(({ supervisor }) => supervisor);
    // A slot above the new number of binds is being released, and has no share.
    sender.setShare([...binds.keys()].filter((slot) => slot <= current.binds).length / current.binds);
    sender.pump();
  }

  /** Only the difference is bound or unbound. */
  function changeSlots(): void {
    wanted?.setBinds(current.binds);
    for (const slot of [...binds.keys()].filter((each) => each > current.binds)) {
      void removeBind(slot, drainMs).then(() => wanted?.release(slot));
    }
  }

  return {
    key,
    account,
    get submitTimeoutMs() {
      return current.response_seconds * 1000 + marginMs;
    },
    get repeatsMessageId() {
      // Without receipts the carrier's ids are not needed.
      return current.receipts === 'none';
    },
    get awaitsReceipts() {
      return current.receipts !== 'none';
    },
    watchesItself: true,
    get confirmsOptOuts() {
      return current.opt_out_replies === 'carrier';
    },
    get onDoubt() {
      return doubtOf(current, byDefault);
    },
    capacity: sender.capacity,
    throttledMs: sender.throttledMs,
    submit: (texts, answer, progress) =>
      sender.submit(
        texts,
        watchAccepted(texts, answer, current.receipts === 'none' ? onUnreported : undefined),
        progress,
      ),
    setPaused: sender.setPaused,
    update(configured) {
      current = configured.settings;
      changeSlots();
      changeBinds();
    },
    tryNow() {
      for (const supervisor of supervisors) supervisor.tryNow();
    },
    start(receive: ReceiveReceipts, reportCapacity, receiveInbound) {
      onCapacity = reportCapacity;
      inbox = createReceiptInbox({ settings, receive, receiveInbound, onCount });
      wanted = slots.want({
        carrierId: id,
        binds: current.binds,
        onTaken: addBind,
        onLost: (slot) => void removeBind(slot, 0),
      });
    },
    async stop() {
      sender.stop();
      await Promise.all([...binds.keys()].map((slot) => removeBind(slot, drainMs)));
      inbox?.stop();
      await wanted?.stop();
    },
    binds: () => [...binds.values()].map(({ supervisor }) => toShown(supervisor)),
    get hint() {
      return inbox?.hint ?? null;
    },
    receiptKeys: (carrierMessageId) => receiptKeysOf(carrierMessageId, current.message_id),
    readLog: () =>
      [...binds].flatMap(([slot, { pduLog }]) => toEntries(slot, pduLog)).sort((a, b) => (a.at < b.at ? -1 : 1)),
    runTest: (test, onStep) => (inbox === undefined ? notStarted() : trial.run(test, inbox, onStep)),
  };
}

function notStarted(): Promise<never> {
  return Promise.reject(new Error('the carrier is not started'));
}

function toShown({ state }: BindSupervisor): ShownBind {
  const { since, next_try_at, ...rest } = state;
  return { ...rest, sinceMs: Date.parse(since), nextTryAtMs: next_try_at === null ? null : Date.parse(next_try_at) };
}

function toEntries(slot: number, pduLog: PduLog): LogEntry[] {
  return pduLog.entries().map((entry) => ({ ...entry, slot }));
}
