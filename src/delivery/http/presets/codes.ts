import { type MessageErrorCode, messageErrorCodes } from '../../../messages/message.ts';

/** Turns lists of a provider's codes, by our error code, into a map from each of the provider's codes to ours. */
export function codes(
  lists: Partial<Record<MessageErrorCode, readonly (string | number)[]>>,
): Record<string, MessageErrorCode> {
  return Object.fromEntries(
    messageErrorCodes.flatMap((error) => (lists[error] ?? []).map((code) => [String(code), error] as const)),
  );
}
