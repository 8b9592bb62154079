/** The names of the standard for the statuses that this server answers. */
const names: Readonly<Record<number, string>> = {
  0x01: 'ESME_RINVMSGLEN',
  0x02: 'ESME_RINVCMDLEN',
  0x03: 'ESME_RINVCMDID',
  0x04: 'ESME_RINVBNDSTS',
  0x05: 'ESME_RALYBND',
  0x08: 'ESME_RSYSERR',
  0x0a: 'ESME_RINVSRCADR',
  0x0b: 'ESME_RINVDSTADR',
  0x0c: 'ESME_RINVMSGID',
  0x0d: 'ESME_RBINDFAIL',
  0x0e: 'ESME_RINVPASWD',
  0x11: 'ESME_RCANCELFAIL',
  0x13: 'ESME_RREPLACEFAIL',
  0x14: 'ESME_RMSGQFUL',
  0x43: 'ESME_RINVESMCLASS',
  0x45: 'ESME_RSUBMITFAIL',
  0x58: 'ESME_RTHROTTLED',
  0x61: 'ESME_RINVSCHED',
  0x62: 'ESME_RINVEXPIRY',
  0x63: 'ESME_RINVDFTMSGID',
  0xc0: 'ESME_RINVOPTPARSTREAM',
  0x104: 'ESME_RINVDCS',
};

export function describeStatus(status: number): string {
  return names[status] ?? `0x${status.toString(16).padStart(8, '0')}`;
}
