import { findCarrier, isTrustedSender } from '../delivery/carrier/store.ts';
import { createNumberService } from '../inbound/number-service.ts';
import { createOptOuts } from '../inbound/opt-outs.ts';
import { lockHeld } from '../inbound/own-number-store.ts';
import { createInboundReceiver } from '../inbound/receive.ts';
import { carrierNameOf } from '../messages/message.ts';
import { findMessages } from '../messages/message-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import type { Registry } from '../registry/registry.ts';
import { findAnswering, isApplication } from '../registry/registry-store.ts';
import type { Config } from '../settings/settings.ts';
import { createInboundApprovals } from '../verify/inbound/approvals.ts';
import { sandboxNumber } from '../verify/inbound/request-text.ts';
import type { Foundation } from './foundation.ts';
import type { composeInbox } from './inbox.ts';

export interface InboundParts {
  config: Pick<Config, 'optOutVerify'>;
  database: Database;
  /** For opt-outs that applications add or end; defaults to `database`. */
  mainDatabase?: Database;
  clock: Clock;
  keys: KeyRing;
  /** Wakes delivery: these carriers have an answer to send. */
  wake: (carriers: readonly string[]) => void;
}

/** Builds the receiver of texts from phones, and the opt-outs, for the delivery thread and for web nodes. */
export function createInbound(parts: InboundParts) {
  const { config, database, clock, keys, wake } = parts;
  const optOuts = createOptOuts({ ...parts, verifications: config.optOutVerify });
  const isTrusted = async (tx: Tx, carrier: string) => carrier === 'sandbox' || isTrustedSender(tx, carrier);
  const holds = async (tx: Tx, held: { applicationId: string; number: string; carrier: string }) =>
    held.number === sandboxNumber || lockHeld(tx, { ...held, carrier: carrierNameOf(held.carrier) });
  const approve = createInboundApprovals({ keys, clock, isTrusted, holds });
  return { optOuts, receiver: createInboundReceiver({ database, clock, keys, optOuts, findAnswering, approve, wake }) };
}

export type Inbound = ReturnType<typeof composeInbound>;

export interface InboundWebParts {
  registry: Registry;
  inbox: ReturnType<typeof composeInbox>;
  wakeDelivery: (carriers: readonly string[]) => void;
}

/** A reply goes to the sender of one of the newest texts on the virtual phone: search this many. */
const searchedTexts = 100;

/** Builds the receiver and the opt-outs of a web node, with what its routes need. */
export function composeInbound(foundation: Foundation, parts: InboundWebParts) {
  const { config, clock, database: mainDatabase, sideDatabase: database, keys } = foundation;
  const { registry, inbox } = parts;
  const { requireOwn } = registry.service;
  const { optOuts, receiver } = createInbound({
    ...{ config, database, mainDatabase, clock, keys },
    wake: parts.wakeDelivery,
  });
  const numbers = createNumberService({
    database,
    clock,
    isApplication,
    change: registry.feed.change,
    isCarrier: async (name) => (await findCarrier(database, name)) !== undefined,
  });

  async function findReceivedFrom(applicationId: string, to: string, sender: string) {
    const texts = await inbox.handsets.list({ applicationId, to, before: undefined, limit: searchedTexts });
    const messages = await findMessages(
      database,
      texts.map(({ messageId }) => messageId),
    );
    const found = messages.find((message) => message.sender === sender || `+${message.sender}` === sender);
    return found && (found.api === 'messaging' ? ('messaging' as const) : ('sms' as const));
  }

  const isSandbox = config.environment === 'sandbox';
  return {
    optOuts,
    receiver,
    routes: {
      inbound: { database, optOuts },
      numbers,
      portalInbound: { database, optOuts, requireOwn },
      inbox: isSandbox ? { ...inbox, requireOwn } : undefined,
      replies: isSandbox
        ? { database, clock, receiver, findReceivedFrom, requireOwn, verificationNumber: sandboxNumber }
        : undefined,
    },
  };
}
