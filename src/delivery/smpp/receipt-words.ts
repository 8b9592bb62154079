// Tests: test/smpp/carrier-words.test.ts
import { findTlv, type Tlv, tlvTags } from '../../smpp/pdu.ts';
import type { ParsedReceipt } from '../../smpp/receipt.ts';
import { readCarrierWords } from '../carrier/words.ts';

/**
 * The state and error of a receipt in the carrier's own words, like `stat:UNDELIV err:069 network_error_code:3/27`:
 * `errors` of the settings gives these codes their meaning.
 */
export function receiptWords({ state, error }: ParsedReceipt, tlvs: readonly Tlv[]): string | null {
  const messageState = findTlv(tlvs, tlvTags.messageState);
  // Without `stat:` the state is the number of the TLV.
  const hasStat = state !== '' && state !== String(messageState?.[0]);
  const words = [
    hasStat ? `stat:${state}` : undefined,
    error.code === null ? undefined : `err:${error.code}`,
    messageState?.length === 1 ? `message_state:${messageState[0]}` : undefined,
    error.network === null ? undefined : `network_error_code:${error.network.type}/${error.network.code}`,
  ];
  return readCarrierWords(words.filter((word) => word !== undefined).join(' '));
}
