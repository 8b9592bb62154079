import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Subject } from './store.ts';

export type SealRefresh = ReturnType<typeof createSealRefresh>;

/** Refresh tokens at rest: a copy of the database opens no session at the provider. */
export function createSealRefresh(keys: KeyRing) {
  const contextOf = ({ issuer, subject }: Subject) => `sso-refresh\n${issuer}\n${subject}`;
  return {
    seal: (token: string, subject: Subject): Buffer => keys.seal(Buffer.from(token), contextOf(subject)),
    open: (sealed: Buffer, subject: Subject): string => keys.open(sealed, contextOf(subject)).toString(),
  };
}
