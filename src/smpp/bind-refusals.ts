// Tests: test/smpp/bind-supervisor.test.ts
import { type BindCommand, statuses } from './pdu.ts';
import type { CloseReason } from './session-types.ts';

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

/** The account or its settings are wrong: frequent retries do not help, an operator has to act. */
export function isAccountRefusal(status: number): boolean {
  const { bindFailed, invalidPassword, invalidSystemId, invalidSystemType } = statuses;
  return [bindFailed, invalidPassword, invalidSystemId, invalidSystemType].some((refusal) => refusal === status);
}

/** Carriers also answer this while they still count an older session of ours. */
export function mayBeOldSession(status: number): boolean {
  return status === statuses.alreadyBound || status === statuses.bindFailed;
}

/** The carrier does not know this kind of bind, or ignores it. */
export function isUnknownBind({ kind, status }: Pick<CloseReason, 'kind' | 'status'>): boolean {
  return kind === 'bind_unanswered' || (kind === 'bind_refused' && status === statuses.invalidCommand);
}

/** Closed before the bind: some carriers do so for an unknown kind of bind, others for other reasons. */
export function mayBeWrongKind({ kind, status }: Pick<CloseReason, 'kind' | 'status'>): boolean {
  if (kind === 'lost') return true;
  return kind === 'bind_refused' && (status === statuses.wrongBindStatus || status === statuses.bindFailed);
}

/** The sentence of a failed bind, with the other setting where that may be the reason. */
export function hintAtBindKind(reason: CloseReason, command: BindCommand): CloseReason {
  if (!isUnknownBind(reason) && !mayBeWrongKind(reason)) return reason;
  const hint =
    command === 'bind_transceiver'
      ? 'If the carrier takes no transceivers, set bind to pair.'
      : 'If the carrier takes only transceivers, set bind to transceiver.';
  return { ...reason, sentence: `${reason.sentence} ${hint}` };
}

export function statusHex(status: number): string {
  return `0x${status.toString(16).toUpperCase().padStart(8, '0')}`;
}
