// What an SMPP 3.4 PDU is: commands, fields, statuses, TLV tags. Pure; encode.ts and decode.ts convert to and from octets.

export const commandIds = {
  generic_nack: 0x80000000,
  bind_receiver: 0x00000001,
  bind_receiver_resp: 0x80000001,
  bind_transmitter: 0x00000002,
  bind_transmitter_resp: 0x80000002,
  query_sm: 0x00000003,
  query_sm_resp: 0x80000003,
  submit_sm: 0x00000004,
  submit_sm_resp: 0x80000004,
  deliver_sm: 0x00000005,
  deliver_sm_resp: 0x80000005,
  unbind: 0x00000006,
  unbind_resp: 0x80000006,
  cancel_sm: 0x00000008,
  cancel_sm_resp: 0x80000008,
  bind_transceiver: 0x00000009,
  bind_transceiver_resp: 0x80000009,
  outbind: 0x0000000b,
  enquire_link: 0x00000015,
  enquire_link_resp: 0x80000015,
  alert_notification: 0x00000102,
  data_sm: 0x00000103,
  data_sm_resp: 0x80000103,
} as const;

/** The command_status values that our code names; submit-errors.ts has the meaning of the others for a text. */
export const statuses = {
  ok: 0x00,
  invalidMessageLength: 0x01,
  invalidCommandLength: 0x02,
  invalidCommand: 0x03,
  wrongBindStatus: 0x04,
  alreadyBound: 0x05,
  systemError: 0x08,
  invalidSource: 0x0a,
  invalidDestination: 0x0b,
  invalidMessageId: 0x0c,
  bindFailed: 0x0d,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  cancelFailed: 0x11,
  replaceFailed: 0x13,
  queueFull: 0x14,
  invalidEsmClass: 0x43,
  submitFailed: 0x45,
  invalidSystemType: 0x53,
  throttled: 0x58,
  invalidSchedule: 0x61,
  invalidValidity: 0x62,
  invalidDefaultMessage: 0x63,
  temporaryReceiverError: 0x64,
  permanentReceiverError: 0x65,
  invalidTlvs: 0xc0,
  invalidTlvValue: 0xc4,
  invalidDataCoding: 0x104,
} as const;

export const tlvTags = {
  receiptedMessageId: 0x001e,
  userMessageReference: 0x0204,
  sarReference: 0x020c,
  sarTotal: 0x020e,
  sarPart: 0x020f,
  interfaceVersion: 0x0210,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  moreMessagesToSend: 0x0426,
  messageState: 0x0427,
  congestionState: 0x0428,
} as const;

export const interfaceVersion = 0x34;
export const headerOctets = 16;
export const highestSequence = 0x7fffffff;

export interface Tlv {
  tag: number;
  value: Buffer;
}

/** Strings of a PDU are Latin-1 without NUL. */
export interface BindFields {
  systemId: string;
  password: string;
  systemType: string;
  interfaceVersion: number;
  addressTon: number;
  addressNpi: number;
  addressRange: string;
}

export interface BindAnswerFields {
  systemId: string;
  tlvs: Tlv[];
}

interface Addresses {
  serviceType: string;
  sourceTon: number;
  sourceNpi: number;
  source: string;
  destinationTon: number;
  destinationNpi: number;
  destination: string;
}

/** The body of submit_sm and of deliver_sm. */
export interface SubmitFields extends Addresses {
  esmClass: number;
  protocolId: number;
  priority: number;
  scheduleDeliveryTime: string;
  validityPeriod: string;
  registeredDelivery: number;
  replaceIfPresent: number;
  dataCoding: number;
  defaultMessageId: number;
  /** At most 255 octets; longer texts travel in the TLV messagePayload. */
  shortMessage: Buffer;
  tlvs: Tlv[];
}

export interface DataFields extends Addresses {
  esmClass: number;
  registeredDelivery: number;
  dataCoding: number;
  tlvs: Tlv[];
}

/** The body of submit_sm_resp, deliver_sm_resp and data_sm_resp. */
export interface MessageAnswerFields {
  messageId: string;
  tlvs: Tlv[];
}

export interface QueryFields {
  messageId: string;
  sourceTon: number;
  sourceNpi: number;
  source: string;
}

export interface CancelFields extends Addresses {
  messageId: string;
}

export interface QueryAnswerFields {
  messageId: string;
  finalDate: string;
  messageState: number;
  errorCode: number;
}

export interface OutbindFields {
  systemId: string;
  password: string;
}

export interface AlertFields {
  sourceTon: number;
  sourceNpi: number;
  source: string;
  esmeTon: number;
  esmeNpi: number;
  esme: string;
  tlvs: Tlv[];
}

interface Head<Command extends string> {
  command: Command;
  /** command_status; 0 in requests. */
  status: number;
  sequence: number;
}

export type BindCommand = 'bind_receiver' | 'bind_transmitter' | 'bind_transceiver';
export type BindAnswerCommand = 'bind_receiver_resp' | 'bind_transmitter_resp' | 'bind_transceiver_resp';
export type MessageAnswerCommand = 'submit_sm_resp' | 'deliver_sm_resp' | 'data_sm_resp';
export type BareCommand =
  | 'generic_nack'
  | 'unbind'
  | 'unbind_resp'
  | 'enquire_link'
  | 'enquire_link_resp'
  | 'cancel_sm_resp';

export type BindPdu = Head<BindCommand> & BindFields;
export type BindAnswerPdu = Head<BindAnswerCommand> & BindAnswerFields;
export type SubmitPdu = Head<'submit_sm'> & SubmitFields;

/** All fields by name: to copy them with `...` takes V8 several times as long. */
export function submitPdu(sequence: number, fields: SubmitFields): SubmitPdu {
  return {
    command: 'submit_sm',
    status: 0,
    sequence,
    serviceType: fields.serviceType,
    sourceTon: fields.sourceTon,
    sourceNpi: fields.sourceNpi,
    source: fields.source,
    destinationTon: fields.destinationTon,
    destinationNpi: fields.destinationNpi,
    destination: fields.destination,
    esmClass: fields.esmClass,
    protocolId: fields.protocolId,
    priority: fields.priority,
    scheduleDeliveryTime: fields.scheduleDeliveryTime,
    validityPeriod: fields.validityPeriod,
    registeredDelivery: fields.registeredDelivery,
    replaceIfPresent: fields.replaceIfPresent,
    dataCoding: fields.dataCoding,
    defaultMessageId: fields.defaultMessageId,
    shortMessage: fields.shortMessage,
    tlvs: fields.tlvs,
  };
}
export type DeliverPdu = Head<'deliver_sm'> & SubmitFields;
export type DataPdu = Head<'data_sm'> & DataFields;
export type MessageAnswerPdu = Head<MessageAnswerCommand> & MessageAnswerFields;
export type QueryPdu = Head<'query_sm'> & QueryFields;
export type CancelPdu = Head<'cancel_sm'> & CancelFields;
export type QueryAnswerPdu = Head<'query_sm_resp'> & QueryAnswerFields;
export type OutbindPdu = Head<'outbind'> & OutbindFields;
export type AlertPdu = Head<'alert_notification'> & AlertFields;
export type BarePdu = Head<BareCommand>;
/** A command that this codec does not know, with its body as it came. */
export type UnknownPdu = Head<'unknown'> & { commandId: number; body: Buffer };

export type Pdu =
  | BindPdu
  | BindAnswerPdu
  | SubmitPdu
  | DeliverPdu
  | DataPdu
  | MessageAnswerPdu
  | QueryPdu
  | CancelPdu
  | QueryAnswerPdu
  | OutbindPdu
  | AlertPdu
  | BarePdu
  | UnknownPdu;

/** The defaults of a submit_sm. */
export const emptySubmit: Readonly<SubmitFields> = {
  serviceType: '',
  sourceTon: 0,
  sourceNpi: 0,
  source: '',
  destinationTon: 0,
  destinationNpi: 0,
  destination: '',
  esmClass: 0,
  protocolId: 0,
  priority: 0,
  scheduleDeliveryTime: '',
  validityPeriod: '',
  registeredDelivery: 0,
  replaceIfPresent: 0,
  dataCoding: 0,
  defaultMessageId: 0,
  shortMessage: Buffer.alloc(0),
  tlvs: [],
};

/** The value of the first TLV with this tag: if a TLV is repeated, the first counts. */
export function findTlv(tlvs: readonly Tlv[], tag: number): Buffer | undefined {
  for (const tlv of tlvs) if (tlv.tag === tag) return tlv.value;
  return undefined;
}

/** A response has the highest bit of its command id set. */
export function isResponseId(commandId: number): boolean {
  return commandId >= 0x80000000;
}

/** The text's octets: message_payload replaces an empty short_message. */
export function messageOctets({ shortMessage, tlvs }: { shortMessage: Buffer; tlvs: readonly Tlv[] }): Buffer {
  return shortMessage.length > 0 ? shortMessage : (findTlv(tlvs, tlvTags.messagePayload) ?? shortMessage);
}
