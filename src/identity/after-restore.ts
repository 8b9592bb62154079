import type { Tx } from '../platform/database/database.ts';

/** Ends every token: the next start makes a new key. The list of revoked tokens is then useless. */
export async function withdrawSigningKeys(tx: Tx): Promise<void> {
  await tx.query('delete from signing_key');
  await tx.query('delete from token_revocation');
}
