import type { Clock } from '../../platform/clock.ts';
import type { Answer, OutgoingText, ReceiveReceipts } from '../carrier.ts';
import type { BindState as ShownBind } from '../carrier-bind-store.ts';
import type { LogEntry } from '../carrier-log-store.ts';
import type { RunningCarrier } from '../running-carrier.ts';
import type { ConfiguredSmppCarrier } from '../watch-carriers.ts';
import type { BindSlots, WantedSlots } from './bind-slots.ts';
import { type BindSupervisor, createBindSupervisor } from './bind-supervisor.ts';
import { receiptKeysOf } from './carrier-ids.ts';
import { testConnection } from './connection-test.ts';
import { createPduLog, type PduLog } from './pdu-log.ts';
import { createReceiptInbox, type DeliveredCount, type ReceiptInbox } from './receipt-inbox.ts';
import { createSmppSender } from './smpp-sender.ts';
import { testText } from './text-test.ts';

export interface SmppCarrierOptions {
  configured: ConfiguredSmppCarrier;
  /** All nodes together hold at most as many slots as the carrier allows binds. */
  slots: BindSlots;
  clock: Clock;
  /** What happens to plain texts in doubt, unless the settings say otherwise. */
  byDefault: { resend: boolean; afterMs: number };
  isAllowedAddress: (address: string) => boolean;
  onCount: (name: DeliveredCount) => void;
  /** Called for each text that was sent if no receipt will come: it has no later sign. */
  onUnreported?: ((text: OutgoingText) => void) | undefined;
  /** A connection has come or gone. */
  onBindsChange?: (() => void) | undefined;
}

/** A submit is answered within `response_seconds`; this much longer a text may wait before and after. */
const marginMs = 15_000;
/** How long submits under way may take when the carrier stops. */
const drainMs = 3000;

/** A carrier that is reached by SMPP 3.4: the binds that this node holds, and one sender over all of them. */
export function createSmppCarrier(options: SmppCarrierOptions): RunningCarrier {
  const { configured, slots, clock, byDefault, isAllowedAddress, onCount, onUnreported, onBindsChange } = options;
  const { settings, key, account, id } = configured;
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

  function addBind(slot: number): void {
    const pduLog = createPduLog(clock);
    const supervisor = createBindSupervisor({
      slot,
      settings,
      clock,
      log: pduLog,
      isAllowedAddress,
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

  /** The account's rate is shared among the slots, and each node has as much as its slots. */
  function changeBinds(): void {
    supervisors = [...binds.values()].map(({ supervisor }) => supervisor);
    sender.setShare(supervisors.length / settings.binds);
    sender.pump();
  }

  function watchSent(texts: OutgoingText[], answer: Answer): Answer {
    if (onUnreported === undefined || settings.receipts !== 'none') return answer;
    return (place, result) => {
      const text = texts[place];
      if (result.outcome === 'accepted' && text !== undefined) onUnreported(text);
      answer(place, result);
    };
  }

  return {
    key,
    account,
    submitTimeoutMs: settings.response_seconds * 1000 + marginMs,
    // Without receipts the carrier's ids are not needed.
    repeatsMessageId: settings.receipts === 'none',
    awaitsReceipts: settings.receipts !== 'none',
    watchesItself: true,
    confirmsOptOuts: settings.opt_out_replies === 'carrier',
    onDoubt: {
      resend: settings.on_doubt === undefined ? byDefault.resend : settings.on_doubt === 'resend',
      afterMs: settings.on_doubt_seconds === undefined ? byDefault.afterMs : settings.on_doubt_seconds * 1000,
    },
    capacity: sender.capacity,
    throttledMs: sender.throttledMs,
    submit: (texts, answer, progress) => sender.submit(texts, watchSent(texts, answer), progress),
    setPaused: sender.setPaused,
    start(receive: ReceiveReceipts, tellCapacity, receiveInbound) {
      onCapacity = tellCapacity;
      inbox = createReceiptInbox({ settings, receive, receiveInbound, onCount });
      wanted = slots.want({
        carrierId: id,
        binds: settings.binds,
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
    receiptKeys: (carrierMessageId) => receiptKeysOf(carrierMessageId, settings.message_id),
    readLog: () =>
      [...binds].flatMap(([slot, { pduLog }]) => toEntries(slot, pduLog)).sort((a, b) => (a.at < b.at ? -1 : 1)),
    async runTest(test, onStep) {
      const isBound = () => supervisors.some(({ state }) => state.state === 'bound');
      if (!(await testConnection({ settings, clock, isAllowedAddress, isBound, onStep }))) return;
      if (inbox === undefined) return notStarted();
      await testText({ test, settings, clock, submit: sender.submit, watchReceipts: inbox.watch, onStep });
    },
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
