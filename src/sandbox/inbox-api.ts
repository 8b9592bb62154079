import { Type } from 'typebox';
import { nullable, pageQuery, pageSchema, readNumber } from '../http/page.ts';
import { type Auth, type Call, type Route, route } from '../http/route.ts';
import type { Message } from '../messages/message.ts';
import { segmentsSchema } from '../messages/message-record.ts';
import { findMessages } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { invalidField, notFound } from '../platform/errors.ts';
import type { Handsets, HandsetText } from './handsets.ts';
import type { InboxFeed } from './inbox-feed.ts';
import { openInboxStream } from './inbox-stream.ts';

export interface InboxOptions {
  database: Database;
  handsets: Handsets;
  feed: InboxFeed;
  /** Rendered at each read, so that no row holds a code. */
  textOf: (message: Message) => string;
  /** An application that is not the account's own is not there. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const itemSchema = Type.Object({
  to: Type.String(),
  from: Type.String(),
  text: Type.String(),
  message_id: Type.String(),
  verification_id: nullable(Type.String()),
  segments: segmentsSchema,
  received_at: Type.String(),
});

const auth: Auth[] = [{ kind: 'apikey' }, { kind: 'bearer', scope: undefined }, { kind: 'developer' }];
const whose = {
  application_id: Type.Optional(Type.String({ maxLength: 256, description: 'Needed with a portal session' })),
  to: Type.Optional(Type.String({ maxLength: 32 })),
};

/** What arrived on the virtual phones: an application sees its own texts only. */
export function createInboxRoutes(options: InboxOptions): Route[] {
  const { database, handsets, feed, textOf } = options;
  const shared = { method: 'GET', auth, tag: 'Sandbox', limitedBy: 'address' } as const;

  async function toItems(texts: HandsetText[]) {
    const messages = new Map(
      (
        await findMessages(
          database,
          texts.map(({ messageId }) => messageId),
        )
      ).map((m) => [m.id, m]),
    );
    return texts.flatMap((text) => {
      const message = messages.get(text.messageId);
      return message === undefined ? [] : [{ id: text.id, item: toItem(text, message, textOf(message)) }];
    });
  }

  async function applicationOf({ caller }: Call, given: string | undefined): Promise<string> {
    if (caller.kind === 'application') return caller.applicationId;
    if (caller.kind !== 'developer') throw notFound();
    if (given === undefined) throw invalidField('application_id', 'is required with a portal session');
    await options.requireOwn(caller.accountId, given);
    return given;
  }

  return [
    route({
      ...shared,
      path: '/sandbox/v1/inbox',
      summary: 'List the texts on the virtual phones, newest first',
      query: Type.Object({
        ...whose,
        limit: pageQuery.limit,
        cursor: Type.Optional(
          Type.String({ maxLength: 15, pattern: '^[0-9]{1,15}$', expected: 'the next_cursor of a page before' }),
        ),
      }),
      answers: { 200: { description: 'A page of them', schema: pageSchema(itemSchema) } },
      handler: async (call) => {
        const { to, limit, cursor, application_id } = call.query;
        const applicationId = await applicationOf(call, application_id);
        const before = cursor === undefined ? undefined : Number(cursor);
        const texts = await handsets.list({ applicationId, to: readNumber(to), before, limit: limit + 1 });
        const shown = texts.slice(0, limit);
        const next = texts.length > limit ? String(shown.at(-1)?.id) : null;
        return { status: 200, body: { data: (await toItems(shown)).map(({ item }) => item), next_cursor: next } };
      },
    }),
    route({
      ...shared,
      path: '/sandbox/v1/inbox/stream',
      summary: 'The same, live, as server-sent events',
      query: Type.Object(whose),
      answers: { 200: { description: 'One event of type `text` for each', type: 'text/event-stream' } },
      handler: async (call) => {
        const applicationId = await applicationOf(call, call.query.application_id);
        const to = readNumber(call.query.to);
        const concerns = (text: HandsetText) =>
          text.applicationId === applicationId && (to === undefined || text.recipient === to);
        // HEAD wants the headers only, and nobody would ever close its stream.
        const data =
          call.method === 'HEAD' ? '' : await openInboxStream({ feed, signal: call.signal, concerns, toItems });
        return { status: 200, content: { type: 'text/event-stream', data } };
      },
    }),
  ];
}

function toItem(text: HandsetText, message: Message, rendered: string) {
  return {
    to: text.recipient,
    from: message.sender,
    text: rendered,
    message_id: message.id,
    verification_id: message.verificationId,
    segments: {
      count: message.segmentCount,
      encoding: message.encoding,
      characters: message.characters,
      remaining: message.remaining,
    },
    received_at: toTimestamp(text.receivedAtMs),
  };
}
