import type { Clock } from '../../platform/clock.ts';
import type { Database, Note } from '../../platform/database/database.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { findClient, raiseCredentialVersion } from '../credential-store.ts';
import type { OwnApplications } from '../own-applications.ts';
import { type ClientKeyAlg, readPublicKey } from './public-key.ts';
import * as store from './store.ts';

/** Without a kid in the assertion, every key of its algorithm is tried. */
const mostKeys = 10;

export interface ClientKeyToAdd {
  name: string | null;
  publicKey: string;
  alg: ClientKeyAlg | undefined;
}

export type ClientKeyService = ReturnType<typeof createClientKeyService>;

/** Public keys for `private_key_jwt`. After a call returns, no node acts on the old state. */
export function createClientKeyService(options: { database: Database; clock: Clock; own: OwnApplications }) {
  const { database, clock, own } = options;
  return {
    async list(accountId: string, id: string): Promise<store.ClientKeyRow[]> {
      await own.require(accountId, id);
      return store.listClientKeys(database, id);
    },

    async add(accountId: string, id: string, toAdd: ClientKeyToAdd, note?: Note<store.ClientKeyRow>) {
      const { spki, ...read } = readPublicKey(toAdd.publicKey, toAdd.alg);
      const shown = { id: newId('cky', clock), name: toAdd.name, createdAtMs: clock.nowMs(), ...read };
      return own.change<store.ClientKeyRow>(
        accountId,
        id,
        async (tx) => {
          const client = await findClient(tx, id, clock.nowMs());
          if (client === undefined) throw notRegistered();
          if ((await store.listClientKeys(tx, id)).length >= mostKeys) throw tooMany();
          if (!(await store.insertClientKey(tx, client.id, { ...shown, spki }))) throw exists();
          return { ...shown, lastUsedAtMs: null, suspendedAtMs: null };
        },
        note,
      );
    },

    /** Also ends all tokens of the client: a token does not show which key it was issued for. */
    delete: (accountId: string, id: string, keyId: string, note?: Note): Promise<void> =>
      own.change(
        accountId,
        id,
        async (tx) => {
          const client = await findClient(tx, id, clock.nowMs());
          if (client === undefined || !(await store.deleteClientKey(tx, client.id, keyId))) throw notFound();
          await raiseCredentialVersion(tx, client.id);
        },
        note,
      ),

    enable: (accountId: string, id: string, keyId: string, note?: Note): Promise<store.ClientKeyRow> =>
      own.change(
        accountId,
        id,
        async (tx) => {
          const key = (await store.listClientKeys(tx, id)).find((each) => each.id === keyId);
          if (key === undefined) throw notFound();
          if (!(await store.enableClientKey(tx, keyId)))
            throw new ApiError('INCOMPATIBLE_STATE', 'This public key is not suspended.');
          return { ...key, suspendedAtMs: null };
        },
        note,
      ),
  };
}

function notRegistered(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    'The application is not registered for the verify or the messaging API. Register it first.',
  );
}

function tooMany(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', `The client has ${mostKeys} public keys, the maximum. Delete one first.`);
}

function exists(): ApiError {
  return new ApiError('ALREADY_EXISTS', 'The client already has this public key, or another one with its kid.', {
    details: [{ field: 'public_key', message: 'is stored already, or another key has its kid' }],
  });
}
