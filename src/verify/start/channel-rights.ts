// Tests: test/contract/voice-permission.test.ts
import type { SendingRights } from '../../http/sending-rights.ts';
import type { SendingChannel } from '../../messages/channel.ts';
import { routedCountryOf } from '../../messages/numbers/phone-number.ts';

/** Whether the application may reach this number by the channel: calls cost most, so an operator allows each country. */
export function mayUse({ callCountries }: SendingRights, channel: SendingChannel, to: string): boolean {
  if (channel !== 'voice' || callCountries === null) return true;
  return callCountries.includes(routedCountryOf(to) ?? '');
}
