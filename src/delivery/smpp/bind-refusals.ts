import { statuses } from './pdu.ts';

const meanings: Record<number, string> = {
  [statuses.invalidCommand]: ' (it does not know this kind of bind)',
  [statuses.alreadyBound]: ' (already bound: an older session is still open there)',
  [statuses.bindFailed]: ' (bind failed)',
  [statuses.invalidPassword]: ' (wrong password)',
  [statuses.invalidSystemId]: ' (unknown system_id)',
  [statuses.invalidSystemType]: ' (wrong system_type)',
};

/** A refused bind as a sentence for operators. */
export function describeBindRefusal(where: string, status: number): string {
  return `${where} refused the bind with ${statusHex(status)}${meanings[status] ?? ''}.`;
}

/** The account or its settings are wrong: an operator has to act, so trying often is of no use. */
export function isAccountRefusal(status: number): boolean {
  const { bindFailed, invalidPassword, invalidSystemId, invalidSystemType } = statuses;
  return [bindFailed, invalidPassword, invalidSystemId, invalidSystemType].some((refusal) => refusal === status);
}

export function statusHex(status: number): string {
  return `0x${status.toString(16).toUpperCase().padStart(8, '0')}`;
}
