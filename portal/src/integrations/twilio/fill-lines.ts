import type { TwilioAccount } from '../../api/types.ts';

/** The placeholders in the guide's samples. */
const written = {
  base: 'http://127.0.0.1:8080/twilio',
  account: 'AC00000000000000000000000000000000',
  service: 'VA00000000000000000000000000000000',
  token: 'YOUR_AUTH_TOKEN',
};

/** A sample of the guide with the values of an application. */
export function fillLines(
  sample: string,
  account: Pick<TwilioAccount, 'account_sid' | 'service_sid' | 'base_url'>,
  token: string,
): string {
  return sample
    .trimEnd()
    .replaceAll(written.base, () => account.base_url)
    .replaceAll(written.account, () => account.account_sid)
    .replaceAll(written.service, () => account.service_sid)
    .replaceAll(written.token, () => token);
}
