// Tests: test/smpp/smsc.test.ts
import { minuteMs } from '../platform/clock.ts';
import { emptySubmit, type SubmitFields, type Tlv, tlvTags } from '../smpp/pdu.ts';
import type { Behaviour } from './faults.ts';
import { wrongId } from './message-ids.ts';
import { echoOf, type StoredText } from './text-store.ts';

type State = Exclude<Behaviour['receipt_state'], 'none'>;

const states: Record<State, { stat: string; number: number; err: string }> = {
  enroute: { stat: 'ENROUTE', number: 1, err: '000' },
  delivered: { stat: 'DELIVRD', number: 2, err: '000' },
  expired: { stat: 'EXPIRED', number: 3, err: '027' },
  undelivered: { stat: 'UNDELIV', number: 5, err: '001' },
  unknown: { stat: 'UNKNOWN', number: 7, err: '000' },
  rejected: { stat: 'REJECTD', number: 8, err: '009' },
};

const isReceipt = 0x04;

/** Whether registered_delivery asks for a receipt of this state. */
export function isAsked(registeredDelivery: number, state: Behaviour['receipt_state']): boolean {
  const asked = registeredDelivery & 0x03;
  if (state === 'none' || asked === 0) return false;
  return asked === 1 || state !== 'delivered';
}

/** The deliver_sm that reports a text, from the phone to the sender. */
export function toReceipt(stored: StoredText, behaviour: Behaviour, nowMs: number): SubmitFields {
  const { submit } = stored;
  const state = states[behaviour.receipt_state === 'none' ? 'delivered' : behaviour.receipt_state];
  const id = behaviour.wrong_ids ? wrongId(stored.receiptId) : stored.receiptId;
  const dates = `submit date:${dateOf(stored.receivedAtMs)} done date:${dateOf(nowMs)}`;
  const delivered = state.number === 2 ? '001' : '000';
  const text =
    behaviour.receipt_style === 'tlv'
      ? ''
      : `id:${id} sub:001 dlvrd:${delivered} ${dates} stat:${state.stat} err:${state.err} text:${echoOf(stored, behaviour.charset)}`;
  const tlvs: Tlv[] =
    behaviour.receipt_style === 'text'
      ? []
      : [
          { tag: tlvTags.receiptedMessageId, value: Buffer.from(`${id}\0`, 'latin1') },
          { tag: tlvTags.messageState, value: Buffer.of(state.number) },
        ];
  return {
    ...emptySubmit,
    sourceTon: submit.destinationTon,
    sourceNpi: submit.destinationNpi,
    source: submit.destination,
    destinationTon: submit.sourceTon,
    destinationNpi: submit.sourceNpi,
    destination: submit.source,
    esmClass: isReceipt,
    shortMessage: Buffer.from(text, 'latin1'),
    tlvs,
  };
}

let lastMinute = Number.NaN;
let lastDate = '';

/** `YYMMDDhhmm`, cached because thousands of receipts a second have the same. */
function dateOf(ms: number): string {
  const minute = Math.floor(ms / minuteMs);
  if (minute !== lastMinute) {
    lastMinute = minute;
    lastDate = new Date(ms).toISOString().replaceAll(/[-T:]/g, '').slice(2, 12);
  }
  return lastDate;
}
