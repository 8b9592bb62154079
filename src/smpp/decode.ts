import { BodyReader, type PduProblem } from './body-reader.ts';
import {
  type BindFields,
  type CancelFields,
  commandIds,
  type DataFields,
  emptySubmit,
  headerOctets,
  type MessageAnswerPdu,
  type Pdu,
  statuses,
} from './pdu.ts';

export interface DecodedPdu {
  pdu: Pdu;
  /** Empty for nearly every PDU. */
  problems: readonly PduProblem[];
}

/**
 * Reads one framed PDU of any octets; buffers in it share the frame's memory. A damaged body is read as far as possible:
 * `problems` says what is wrong, and with what status to answer.
 */
export function decodePdu(frame: Buffer): DecodedPdu {
  if (frame.length < headerOctets) return tooShort(frame);
  const reader = new BodyReader(frame);
  const pdu = readPdu(frame, reader);
  return { pdu, problems: reader.problems };
}

/** The status to answer a request with: the first problem that makes it useless decides, else 0. */
export function statusFor(problems: readonly PduProblem[]): number {
  for (const { status } of problems) if (status !== statuses.ok) return status;
  return statuses.ok;
}

function tooShort(frame: Buffer): DecodedPdu {
  const problem = `has ${frame.length} octets, fewer than ${headerOctets}`;
  return {
    pdu: { command: 'unknown', status: 0, sequence: 0, commandId: 0, body: frame },
    problems: [{ field: 'header', problem, status: statuses.invalidCommandLength }],
  };
}

function readPdu(frame: Buffer, reader: BodyReader): Pdu {
  const commandId = frame.readUInt32BE(4);
  const status = frame.readUInt32BE(8);
  const sequence = frame.readUInt32BE(12);
  switch (commandId) {
    case commandIds.submit_sm_resp:
      return readMessageAnswer({ command: 'submit_sm_resp', status, sequence, messageId: '', tlvs: [] }, reader);
    case commandIds.deliver_sm:
      return readSubmit('deliver_sm', status, sequence, reader);
    case commandIds.submit_sm:
      return readSubmit('submit_sm', status, sequence, reader);
    case commandIds.deliver_sm_resp:
      return readMessageAnswer({ command: 'deliver_sm_resp', status, sequence, messageId: '', tlvs: [] }, reader);
    case commandIds.enquire_link:
      return { command: readNoBody('enquire_link', reader), status, sequence };
    case commandIds.enquire_link_resp:
      return { command: readNoBody('enquire_link_resp', reader), status, sequence };
    case commandIds.generic_nack:
      return { command: readNoBody('generic_nack', reader), status, sequence };
    case commandIds.unbind:
      return { command: readNoBody('unbind', reader), status, sequence };
    case commandIds.unbind_resp:
      return { command: readNoBody('unbind_resp', reader), status, sequence };
    case commandIds.data_sm:
      return { command: 'data_sm', status, sequence, ...readData(reader) };
    case commandIds.data_sm_resp:
      return readMessageAnswer({ command: 'data_sm_resp', status, sequence, messageId: '', tlvs: [] }, reader);
    case commandIds.bind_receiver:
      return { command: 'bind_receiver', status, sequence, ...readBind(reader) };
    case commandIds.bind_transmitter:
      return { command: 'bind_transmitter', status, sequence, ...readBind(reader) };
    case commandIds.bind_transceiver:
      return { command: 'bind_transceiver', status, sequence, ...readBind(reader) };
    case commandIds.bind_receiver_resp:
      return { command: 'bind_receiver_resp', status, sequence, ...readBindAnswer(reader) };
    case commandIds.bind_transmitter_resp:
      return { command: 'bind_transmitter_resp', status, sequence, ...readBindAnswer(reader) };
    case commandIds.bind_transceiver_resp:
      return { command: 'bind_transceiver_resp', status, sequence, ...readBindAnswer(reader) };
    case commandIds.query_sm:
      return { command: 'query_sm', status, sequence, ...readQuery(reader) };
    case commandIds.query_sm_resp:
      return { command: 'query_sm_resp', status, sequence, ...readQueryAnswer(reader) };
    case commandIds.cancel_sm:
      return { command: 'cancel_sm', status, sequence, ...readCancel(reader) };
    case commandIds.cancel_sm_resp:
      return { command: readNoBody('cancel_sm_resp', reader), status, sequence };
    case commandIds.outbind:
      return { command: 'outbind', status, sequence, ...readOutbind(reader) };
    case commandIds.alert_notification:
      return { command: 'alert_notification', status, sequence, ...readAlert(reader) };
    default:
      return { command: 'unknown', status, sequence, commandId, body: frame.subarray(headerOctets) };
  }
}

function readNoBody<Command>(command: Command, reader: BodyReader): Command {
  reader.finish();
  return command;
}

/** Read into the PDU itself: to copy the fields with `...` takes V8 several times as long. */
function readSubmit<Command extends 'submit_sm' | 'deliver_sm'>(
  command: Command,
  status: number,
  sequence: number,
  reader: BodyReader,
) {
  const pdu = {
    command,
    status,
    sequence,
    serviceType: reader.string('service_type', 6),
    sourceTon: reader.octet('source_addr_ton'),
    sourceNpi: reader.octet('source_addr_npi'),
    source: reader.string('source_addr', 21),
    destinationTon: reader.octet('dest_addr_ton'),
    destinationNpi: reader.octet('dest_addr_npi'),
    destination: reader.string('destination_addr', 21),
    esmClass: reader.octet('esm_class'),
    protocolId: reader.octet('protocol_id'),
    priority: reader.octet('priority_flag'),
    scheduleDeliveryTime: reader.string('schedule_delivery_time', 17),
    validityPeriod: reader.string('validity_period', 17),
    registeredDelivery: reader.octet('registered_delivery'),
    replaceIfPresent: reader.octet('replace_if_present_flag'),
    dataCoding: reader.octet('data_coding'),
    defaultMessageId: reader.octet('sm_default_msg_id'),
    shortMessage: reader.shortMessage(),
    tlvs: emptySubmit.tlvs,
  };
  if (!reader.atEnd) pdu.tlvs = reader.tlvs(pdu.shortMessage.length > 0);
  return pdu;
}

function readData(reader: BodyReader): DataFields {
  return {
    serviceType: reader.string('service_type', 6),
    sourceTon: reader.octet('source_addr_ton'),
    sourceNpi: reader.octet('source_addr_npi'),
    source: reader.string('source_addr', 65),
    destinationTon: reader.octet('dest_addr_ton'),
    destinationNpi: reader.octet('dest_addr_npi'),
    destination: reader.string('destination_addr', 65),
    esmClass: reader.octet('esm_class'),
    registeredDelivery: reader.octet('registered_delivery'),
    dataCoding: reader.octet('data_coding'),
    tlvs: reader.tlvs(false),
  };
}

/** Many peers leave out the body of an error, some that of a success: then the id is empty. */
function readMessageAnswer(answer: MessageAnswerPdu, reader: BodyReader): MessageAnswerPdu {
  if (reader.atEnd) return answer;
  answer.messageId = reader.string('message_id', 65);
  answer.tlvs = reader.tlvs(true);
  return answer;
}

function readBind(reader: BodyReader): BindFields {
  const fields = {
    systemId: reader.string('system_id', 16),
    // The specification says 9; carriers hand out longer ones.
    password: reader.string('password', 17),
    systemType: reader.string('system_type', 13),
    interfaceVersion: reader.octet('interface_version'),
    addressTon: reader.octet('addr_ton'),
    addressNpi: reader.octet('addr_npi'),
    addressRange: reader.string('address_range', 41),
  };
  reader.finish();
  return fields;
}

function readBindAnswer(reader: BodyReader) {
  if (reader.atEnd) return { systemId: '', tlvs: [] };
  return { systemId: reader.string('system_id', 16), tlvs: reader.tlvs(true) };
}

function readQuery(reader: BodyReader) {
  const fields = {
    messageId: reader.string('message_id', 65),
    sourceTon: reader.octet('source_addr_ton'),
    sourceNpi: reader.octet('source_addr_npi'),
    source: reader.string('source_addr', 21),
  };
  reader.finish();
  return fields;
}

function readCancel(reader: BodyReader): CancelFields {
  const fields = {
    serviceType: reader.string('service_type', 6),
    messageId: reader.string('message_id', 65),
    sourceTon: reader.octet('source_addr_ton'),
    sourceNpi: reader.octet('source_addr_npi'),
    source: reader.string('source_addr', 21),
    destinationTon: reader.octet('dest_addr_ton'),
    destinationNpi: reader.octet('dest_addr_npi'),
    destination: reader.string('destination_addr', 21),
  };
  reader.finish();
  return fields;
}

function readQueryAnswer(reader: BodyReader) {
  if (reader.atEnd) return { messageId: '', finalDate: '', messageState: 0, errorCode: 0 };
  const fields = {
    messageId: reader.string('message_id', 65),
    finalDate: reader.string('final_date', 17),
    messageState: reader.octet('message_state'),
    errorCode: reader.octet('error_code'),
  };
  reader.finish();
  return fields;
}

function readOutbind(reader: BodyReader) {
  const fields = { systemId: reader.string('system_id', 16), password: reader.string('password', 17) };
  reader.finish();
  return fields;
}

function readAlert(reader: BodyReader) {
  return {
    sourceTon: reader.octet('source_addr_ton'),
    sourceNpi: reader.octet('source_addr_npi'),
    source: reader.string('source_addr', 65),
    esmeTon: reader.octet('esme_addr_ton'),
    esmeNpi: reader.octet('esme_addr_npi'),
    esme: reader.string('esme_addr', 65),
    tlvs: reader.tlvs(true),
  };
}
