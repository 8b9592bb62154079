// Tests: test/contract/operator-routes.test.ts
import type { Api } from '../../http/route.ts';
import type { SendingChannel } from '../../messages/channel.ts';
import { routedCountryOf } from '../../messages/numbers/phone-number.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Environment } from '../../platform/environment.ts';
import { invalidField, notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { sandboxCarrier } from '../carrier/carrier.ts';
import { carrierKey, readCarriersAt } from '../carrier/store.ts';
import type { CarrierDirectory } from './directory.ts';
import { routeIn, virtualPhones } from './environment.ts';
import { decideAgain, factsOfText, type PastCarrier } from './record.ts';
import { findRoutedText, type RoutedText } from './routed-text-store.ts';
import type { RouteDecision, RouteFacts } from './routing.ts';
import { emptyTable, type RouteTable } from './table.ts';
import { readTable } from './table-store.ts';

/** An operator's question: about a text that was sent, or about one that could be. */
export interface Question {
  messageId: string | null;
  to: string | null;
  from: string | null;
  api: Api | null;
  channel?: SendingChannel | undefined;
  applicationId: string | null;
  /** Routes that are not saved yet, used instead of the table. */
  draft: RouteTable['routes'] | null;
}

export interface Explained {
  decision: RouteDecision;
  version: number;
  /** The text that was sent, if the question names one. */
  text: RoutedText | undefined;
}

export interface RouteExplainOptions {
  database: Database;
  clock: Clock;
  directory: Pick<CarrierDirectory, 'list' | 'table'>;
  environment: Environment;
}

export type ExplainRoute = (question: Question) => Promise<Explained>;

/** Explains which carriers may take a text, in which order, and why. */
export function createRouteExplain({ database, clock, directory, environment }: RouteExplainOptions): ExplainRoute {
  return async (question) => {
    const { messageId, draft } = question;
    if (messageId !== null && !isId('msg', messageId)) throw invalidField('message_id', 'must be the id of a message');
    const text = messageId === null ? undefined : await findRoutedText(database, messageId);
    if (text !== undefined && draft === null) return explainSent(text);
    if (text === undefined && question.to === null)
      throw messageId === null ? invalidField('to', 'is required, unless message_id names a message') : notFound();
    const facts = text === undefined ? factsOf(question) : { ...factsOfText(text), to: question.to ?? text.to };
    const table = draft === null ? directory.table() : { version: directory.table().version, routes: draft };
    const about = { ...facts, country: routedCountryOf(facts.to), nowMs: clock.nowMs() };
    return { decision: routeIn(environment, about, table, directory.list()), version: table.version, text };
  };

  /** Repeats the decision with the table and the carrier health that the text's row recorded. */
  async function explainSent(text: RoutedText): Promise<Explained> {
    const version = text.routeVersion ?? 0;
    const table = version === 0 ? emptyTable : ((await readTable(database, version)) ?? emptyTable);
    return { decision: decideAgain(text, table, await carriersOf(text)), version, text };
  }

  async function carriersOf(text: RoutedText): Promise<PastCarrier[]> {
    if (text.routeVersion === null && text.carrier === sandboxCarrier) return [virtualPhones];
    const rows = await readCarriersAt(database, text.createdAtMs);
    const known = rows
      .map(({ id, name, channels, wasDeleted }) => {
        return { key: carrierKey({ id, name }), name, channels: channels ?? undefined, wasDeleted };
      })
      .filter(({ key, wasDeleted }) => !wasDeleted || isNamed(text, key));
    return text.routeVersion === null || environment === 'production' ? known : [...known, virtualPhones];
  }
}

/** The node that routed the text knew every carrier that its row names. */
function isNamed({ carrier, given }: RoutedText, key: string): boolean {
  return carrier === key || Object.values(given).some((keys) => keys.includes(key));
}

function factsOf({
  messageId,
  to,
  from,
  api,
  channel,
  applicationId,
}: Question): Omit<RouteFacts, 'country' | 'nowMs'> {
  const isCode = api === 'verify';
  const of = { to: to ?? '', from: from ?? '', applicationId: applicationId ?? '' };
  const about = { messageId, ...of, api: api ?? 'sms', channel };
  return { ...about, urgent: isCode, isCode, senderCarriers: null, used: [] };
}
