// Tests: test/twilio/account.test.ts
import type { Clock } from '../platform/clock.ts';
import { randomBytes } from '../platform/crypto/random.ts';
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { sidOf } from './sid.ts';
import type { TwilioTokens } from './token.ts';
import { deleteTokens, endTokens, insertToken, listTokens, type StoredToken } from './token-store.ts';

/** An application as an account of the Twilio-compatible API. */
export interface TwilioAccount {
  accountSid: string;
  serviceSid: string;
  messagingServiceSid: string;
  baseUrl: string;
  /** In force, newest first. */
  tokens: Pick<StoredToken, 'createdAtMs' | 'endsAtMs'>[];
}

export interface NewTwilioAccount extends TwilioAccount {
  authToken: string;
}

export interface TwilioAccountOptions {
  database: Database;
  clock: Clock;
  tokens: TwilioTokens;
  /** The ring's newest key. */
  ringVersion: () => number;
  publicUrl: string;
  /** Changes the account's application; after it resolves no node acts on the old state. */
  change: <Result>(
    accountId: string,
    applicationId: string,
    work: (tx: Tx) => Promise<Result>,
    note?: Note<Result>,
  ) => Promise<Result>;
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

/** The application of an account. */
export interface Owned {
  accountId: string;
  applicationId: string;
}

/** During overlaps there may be several. */
const mostTokens = 5;

/** Creates, rotates and deletes Twilio-compatible credentials; another account's application is a 404. */
export function createTwilioAccounts(options: TwilioAccountOptions) {
  const { database, clock, tokens, ringVersion, publicUrl, change, requireOwn } = options;

  function toAccount(applicationId: string, inForce: StoredToken[]): TwilioAccount {
    return {
      accountSid: sidOf('AC', applicationId),
      serviceSid: sidOf('VA', applicationId),
      messagingServiceSid: sidOf('MG', applicationId),
      baseUrl: `${publicUrl}/twilio`,
      tokens: inForce,
    };
  }

  async function addToken(tx: Tx, applicationId: string): Promise<NewTwilioAccount> {
    const made: StoredToken = {
      applicationId,
      version: randomBytes(6).readUIntBE(0, 6),
      ringVersion: ringVersion(),
      createdAtMs: clock.nowMs(),
      endsAtMs: null,
    };
    await insertToken(tx, made);
    const inForce = await listTokens(tx, applicationId, clock.nowMs());
    return { ...toAccount(applicationId, inForce), authToken: tokens.derive(made) };
  }

  return {
    create({ accountId, applicationId }: Owned, note?: Note<TwilioAccount>): Promise<NewTwilioAccount> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          const others = await listTokens(tx, applicationId, clock.nowMs());
          if (others.length > 0)
            throw new ApiError('ALREADY_EXISTS', 'The application has a token. Rotate it with POST …/twilio/tokens.');
          return addToken(tx, applicationId);
        },
        note,
      );
    },

    async read({ accountId, applicationId }: Owned): Promise<TwilioAccount> {
      await requireOwn(accountId, applicationId);
      const inForce = await listTokens(database, applicationId, clock.nowMs());
      if (inForce.length === 0) throw notFound();
      return toAccount(applicationId, inForce);
    },

    /** The older tokens are valid until the overlap ends. */
    rotate(
      { accountId, applicationId }: Owned,
      overlapSeconds: number,
      note?: Note<TwilioAccount>,
    ): Promise<NewTwilioAccount> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          const nowMs = clock.nowMs();
          const before = await listTokens(tx, applicationId, nowMs);
          if (before.length === 0) throw notFound();
          if (before.length >= mostTokens && overlapSeconds > 0)
            throw new ApiError('INCOMPATIBLE_STATE', `The application has ${mostTokens} tokens in force, the maximum.`);
          await endTokens(tx, applicationId, nowMs + overlapSeconds * 1000, nowMs);
          return addToken(tx, applicationId);
        },
        note,
      );
    },

    remove({ accountId, applicationId }: Owned, note?: Note): Promise<void> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          if (!(await deleteTokens(tx, applicationId))) throw notFound();
        },
        note,
      );
    },
  };
}

export type TwilioAccounts = ReturnType<typeof createTwilioAccounts>;
