// Tests: src/smpp/decode.test.ts
import { commandIds, headerOctets, type Pdu, type SubmitFields, type Tlv } from './pdu.ts';

const longestShortMessage = 255;
const longestTlv = 65_535;
const questionMark = 0x3f;

/**
 * Writes a PDU into one new buffer. A character that a string of SMPP cannot hold (NUL, or beyond Latin-1) becomes `?`.
 * Throws a RangeError only for a short message over 255 octets or a TLV over 65,535: no caller may build these.
 */
export function encodePdu(pdu: Pdu): Buffer {
  const frame = Buffer.allocUnsafe(headerOctets + bodyOctets(pdu));
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(pdu.command === 'unknown' ? pdu.commandId : commandIds[pdu.command], 4);
  frame.writeUInt32BE(pdu.status, 8);
  frame.writeUInt32BE(pdu.sequence, 12);
  writeBody(frame, pdu);
  return frame;
}

/** A submit_sm_resp without TLVs. Its id is one of ours, so it is ASCII. */
export interface SubmitAnswer {
  sequence: number;
  status: number;
  messageId: string;
}

/** Several submit_sm_resp, one after the other, in one new buffer. */
export function encodeSubmitAnswers(answers: readonly SubmitAnswer[]): Buffer {
  let octets = 0;
  for (const { messageId } of answers) octets += headerOctets + messageId.length + 1;
  const all = Buffer.allocUnsafe(octets);
  let at = 0;
  for (const { sequence, status, messageId } of answers) {
    all.writeUInt32BE(headerOctets + messageId.length + 1, at);
    all.writeUInt32BE(commandIds.submit_sm_resp, at + 4);
    all.writeUInt32BE(status, at + 8);
    all.writeUInt32BE(sequence, at + 12);
    at = writeString(all, at + headerOctets, messageId);
  }
  return all;
}

function bodyOctets(pdu: Pdu): number {
  switch (pdu.command) {
    case 'submit_sm':
    case 'deliver_sm':
      return submitOctets(pdu);
    case 'submit_sm_resp':
    case 'deliver_sm_resp':
    case 'data_sm_resp':
      return pdu.messageId.length + 1 + tlvOctets(pdu.tlvs);
    case 'data_sm':
      return pdu.serviceType.length + pdu.source.length + pdu.destination.length + 10 + tlvOctets(pdu.tlvs);
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      return pdu.systemId.length + pdu.password.length + pdu.systemType.length + pdu.addressRange.length + 7;
    case 'bind_receiver_resp':
    case 'bind_transmitter_resp':
    case 'bind_transceiver_resp':
      return pdu.systemId.length + 1 + tlvOctets(pdu.tlvs);
    case 'query_sm':
      return pdu.messageId.length + pdu.source.length + 4;
    case 'cancel_sm':
      return pdu.serviceType.length + pdu.messageId.length + pdu.source.length + pdu.destination.length + 8;
    case 'query_sm_resp':
      return pdu.messageId.length + pdu.finalDate.length + 4;
    case 'outbind':
      return pdu.systemId.length + pdu.password.length + 2;
    case 'alert_notification':
      return pdu.source.length + pdu.esme.length + 6 + tlvOctets(pdu.tlvs);
    case 'unknown':
      return pdu.body.length;
    default:
      return 0;
  }
}

function submitOctets(fields: SubmitFields): number {
  const { serviceType, source, destination, scheduleDeliveryTime, validityPeriod, shortMessage, tlvs } = fields;
  if (shortMessage.length > longestShortMessage) {
    throw new RangeError(`a short message has at most ${longestShortMessage} octets, not ${shortMessage.length}`);
  }
  const strings =
    serviceType.length + source.length + destination.length + scheduleDeliveryTime.length + validityPeriod.length;
  // Five NULs, four types and plans, eight single octets.
  return strings + 5 + 4 + 8 + shortMessage.length + tlvOctets(tlvs);
}

function tlvOctets(tlvs: readonly Tlv[]): number {
  let octets = 0;
  for (const { value } of tlvs) {
    if (value.length > longestTlv) {
      throw new RangeError(`a TLV has at most ${longestTlv} octets, not ${value.length}`);
    }
    octets += 4 + value.length;
  }
  return octets;
}

/** Returns where the body ends. */
function writeBody(frame: Buffer, pdu: Pdu): number {
  let at = headerOctets;
  switch (pdu.command) {
    case 'submit_sm':
    case 'deliver_sm':
      return writeSubmit(frame, pdu);
    case 'submit_sm_resp':
    case 'deliver_sm_resp':
    case 'data_sm_resp':
      at = writeString(frame, at, pdu.messageId);
      return writeTlvs(frame, at, pdu.tlvs);
    case 'data_sm':
      at = writeString(frame, at, pdu.serviceType);
      at = writeAddress(frame, at, { ton: pdu.sourceTon, npi: pdu.sourceNpi, address: pdu.source });
      at = writeAddress(frame, at, { ton: pdu.destinationTon, npi: pdu.destinationNpi, address: pdu.destination });
      frame[at++] = pdu.esmClass;
      frame[at++] = pdu.registeredDelivery;
      frame[at++] = pdu.dataCoding;
      return writeTlvs(frame, at, pdu.tlvs);
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      at = writeString(frame, at, pdu.systemId);
      at = writeString(frame, at, pdu.password);
      at = writeString(frame, at, pdu.systemType);
      frame[at++] = pdu.interfaceVersion;
      return writeAddress(frame, at, { ton: pdu.addressTon, npi: pdu.addressNpi, address: pdu.addressRange });
    case 'bind_receiver_resp':
    case 'bind_transmitter_resp':
    case 'bind_transceiver_resp':
      at = writeString(frame, at, pdu.systemId);
      return writeTlvs(frame, at, pdu.tlvs);
    case 'query_sm':
      at = writeString(frame, at, pdu.messageId);
      return writeAddress(frame, at, { ton: pdu.sourceTon, npi: pdu.sourceNpi, address: pdu.source });
    case 'cancel_sm':
      at = writeString(frame, at, pdu.serviceType);
      at = writeString(frame, at, pdu.messageId);
      at = writeAddress(frame, at, { ton: pdu.sourceTon, npi: pdu.sourceNpi, address: pdu.source });
      return writeAddress(frame, at, { ton: pdu.destinationTon, npi: pdu.destinationNpi, address: pdu.destination });
    case 'query_sm_resp':
      at = writeString(frame, at, pdu.messageId);
      at = writeString(frame, at, pdu.finalDate);
      frame[at++] = pdu.messageState;
      frame[at++] = pdu.errorCode;
      return at;
    case 'outbind':
      at = writeString(frame, at, pdu.systemId);
      return writeString(frame, at, pdu.password);
    case 'alert_notification':
      at = writeAddress(frame, at, { ton: pdu.sourceTon, npi: pdu.sourceNpi, address: pdu.source });
      at = writeAddress(frame, at, { ton: pdu.esmeTon, npi: pdu.esmeNpi, address: pdu.esme });
      return writeTlvs(frame, at, pdu.tlvs);
    case 'unknown':
      return at + pdu.body.copy(frame, at);
    default:
      return at;
  }
}

function writeSubmit(frame: Buffer, pdu: SubmitFields): number {
  let at = writeString(frame, headerOctets, pdu.serviceType);
  at = writeAddress(frame, at, { ton: pdu.sourceTon, npi: pdu.sourceNpi, address: pdu.source });
  at = writeAddress(frame, at, { ton: pdu.destinationTon, npi: pdu.destinationNpi, address: pdu.destination });
  frame[at++] = pdu.esmClass;
  frame[at++] = pdu.protocolId;
  frame[at++] = pdu.priority;
  at = writeString(frame, at, pdu.scheduleDeliveryTime);
  at = writeString(frame, at, pdu.validityPeriod);
  frame[at++] = pdu.registeredDelivery;
  frame[at++] = pdu.replaceIfPresent;
  frame[at++] = pdu.dataCoding;
  frame[at++] = pdu.defaultMessageId;
  frame[at++] = pdu.shortMessage.length;
  at += pdu.shortMessage.copy(frame, at);
  return writeTlvs(frame, at, pdu.tlvs);
}

function writeAddress(frame: Buffer, at: number, party: { ton: number; npi: number; address: string }): number {
  frame[at] = party.ton;
  frame[at + 1] = party.npi;
  return writeString(frame, at + 2, party.address);
}

function writeString(frame: Buffer, from: number, text: string): number {
  let at = from;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    frame[at++] = character === 0 || character > 0xff ? questionMark : character;
  }
  frame[at++] = 0;
  return at;
}

function writeTlvs(frame: Buffer, from: number, tlvs: readonly Tlv[]): number {
  let at = from;
  for (const { tag, value } of tlvs) {
    frame.writeUInt16BE(tag, at);
    frame.writeUInt16BE(value.length, at + 2);
    at += 4 + value.copy(frame, at + 4);
  }
  return at;
}
