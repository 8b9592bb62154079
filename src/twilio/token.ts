// Tests: test/twilio/account.test.ts
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash, sameBytes } from '../platform/crypto/secrets.ts';

/** The values from which a token derives, besides the key ring. */
export interface TokenSource {
  applicationId: string;
  version: number;
  ringVersion: number;
}

const bodyLength = 24;
const checksumLength = 8;
const form = /^[0-9a-f]{32}$/;

/** Tokens look like Twilio's: 32 hexadecimal digits. The last 8 are a checksum, so that guesses cost no lookup. */
export function createTwilioTokens(keys: KeyRing) {
  const hexOf = (ringVersion: number, text: string, length: number) =>
    keyedHash(keys.keyFor('twilio-token', ringVersion), text).toString('hex').slice(0, length);
  const checksumOf = (ringVersion: number, applicationId: string, body: string) =>
    hexOf(ringVersion, `checksum:${applicationId} ${body}`, checksumLength);

  return {
    derive({ applicationId, version, ringVersion }: TokenSource): string {
      const body = hexOf(ringVersion, `token:${applicationId} ${version}`, bodyLength);
      return body + checksumOf(ringVersion, applicationId, body);
    },

    isPlausible(applicationId: string, token: string): boolean {
      if (!form.test(token)) return false;
      const [body, checksum] = [token.slice(0, bodyLength), Buffer.from(token.slice(bodyLength))];
      return keys.versions.some((version) =>
        sameBytes(Buffer.from(checksumOf(version, applicationId, body)), checksum),
      );
    },
  };
}

export type TwilioTokens = ReturnType<typeof createTwilioTokens>;
