/** The names of the standard for the statuses that this server answers. */
const names: Readonly<Record<number, string>> = {
  1: 'ESME_RINVMSGLEN',
  2: 'ESME_RINVCMDLEN',
  3: 'ESME_RINVCMDID',
  4: 'ESME_RINVBNDSTS',
  5: 'ESME_RALYBND',
  8: 'ESME_RSYSERR',
  10: 'ESME_RINVSRCADR',
  11: 'ESME_RINVDSTADR',
  12: 'ESME_RINVMSGID',
  13: 'ESME_RBINDFAIL',
  14: 'ESME_RINVPASWD',
  17: 'ESME_RCANCELFAIL',
  19: 'ESME_RREPLACEFAIL',
  20: 'ESME_RMSGQFUL',
  67: 'ESME_RINVESMCLASS',
  69: 'ESME_RSUBMITFAIL',
  88: 'ESME_RTHROTTLED',
  97: 'ESME_RINVSCHED',
  98: 'ESME_RINVEXPIRY',
  99: 'ESME_RINVDFTMSGID',
  192: 'ESME_RINVOPTPARSTREAM',
  260: 'ESME_RINVDCS',
};

export function describeStatus(status: number): string {
  return names[status] ?? `0x${status.toString(16).padStart(8, '0')}`;
}
