// Tests: test/contract/inbox.test.ts, test/contract/inbox-stream.test.ts
import { type Static, Type } from 'typebox';
import { nullable, pageQuery, pageSchema } from '../http/list-page.ts';
import { type Auth, type Call, type Route, route } from '../http/route.ts';
import { streamReply } from '../http/streams/open-streams.ts';
import { segmentsSchema } from '../messages/message-record.ts';
import { longestNumber, numberForm, readNumberFilter } from '../messages/numbers/phone-number.ts';
import { invalidField, notFound } from '../platform/errors.ts';
import { createCallRoutes } from './call-api.ts';
import type { VirtualCalls } from './calls.ts';
import type { Handsets } from './handsets.ts';
import type { InboxStreams } from './inbox-streams.ts';
import type { RenderArrivals } from './inbox-text.ts';

export interface InboxOptions {
  handsets: Pick<Handsets, 'list'>;
  renderArrivals: RenderArrivals;
  streams: InboxStreams;
  calls: VirtualCalls;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const itemSchema = Type.Object(
  {
    to: Type.String(),
    from: Type.String(),
    text: Type.String({ examples: ['123456 is your code for ACME. It works for 10 minutes.'] }),
    message_id: Type.String(),
    verification_id: nullable(Type.String()),
    segments: segmentsSchema,
    received_at: Type.String(),
    channel: Type.Optional(
      Type.String({
        examples: ['voice'],
        description: 'Only for a call (text is what the voice says) or a WhatsApp message',
      }),
    ),
    language: Type.Optional(Type.String({ examples: ['en'], description: 'Language of the text; only with channel' })),
    ringing: Type.Optional(Type.Boolean({ description: 'Only for a call: whether it is still ringing' })),
  },
  { title: 'InboxText' },
);
export type InboxItem = Static<typeof itemSchema>;

const auth: Auth[] = [{ kind: 'apikey' }, { kind: 'bearer', scope: undefined }, { kind: 'developer' }];
const whose = {
  application_id: Type.Optional(Type.String({ maxLength: 256, description: 'Required with a portal session' })),
  to: Type.Optional(Type.String({ maxLength: longestNumber, description: `A number: ${numberForm}` })),
};

const notOwn = { NOT_FOUND: 'The application does not belong to the developer' };
const streamExample = 'id: 42\nevent: text\ndata: {"to":"+447700900123","from":"ACME","text":"Hello"}\n\n';

/** The texts on the virtual phones. An application sees only its own. */
export function createInboxRoutes(options: InboxOptions): Route[] {
  const { handsets, renderArrivals, streams, calls } = options;
  const shared = { method: 'GET', auth, tag: 'Sandbox', limitedBy: 'address' } as const;

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
      operationId: 'listInbox',
      summary: 'List the texts on the virtual handsets, newest first',
      query: Type.Object({
        ...whose,
        limit: pageQuery.limit,
        cursor: Type.Optional(
          Type.String({
            maxLength: 15,
            examples: ['42'],
            pattern: '^[0-9]{1,15}$',
            expected: 'a next_cursor of this list',
          }),
        ),
      }),
      answers: { 200: { description: 'A page of texts', schema: pageSchema(itemSchema) } },
      refuses: notOwn,
      handler: async (call) => {
        const { to, limit, cursor, application_id } = call.query;
        const applicationId = await applicationOf(call, application_id);
        const before = cursor === undefined ? undefined : Number(cursor);
        const texts = await handsets.list({ applicationId, to: readNumberFilter(to), before, limit: limit + 1 });
        const shown = texts.slice(0, limit);
        const next = texts.length > limit ? String(shown.at(-1)?.id) : null;
        return {
          status: 200,
          body: { data: (await renderArrivals(shown)).map(({ item }) => item), next_cursor: next },
        };
      },
    }),
    route({
      ...shared,
      path: '/sandbox/v1/inbox/stream',
      operationId: 'streamInbox',
      summary: 'Stream the texts as server-sent events',
      description:
        'An application can have 5 streams; one more gets a 409 `TOO_MANY_STREAMS`. A stream ends with the credential ' +
        'that opened it. `Last-Event-ID` resumes it with the texts that arrived since, at most the last 1,000.',
      stream: true,
      query: Type.Object(whose),
      answers: {
        200: { description: 'One event of type `text` per text', type: 'text/event-stream', example: streamExample },
      },
      refuses: { ...notOwn, TOO_MANY_STREAMS: 'The application has 5 open streams' },
      handler: async (call) => {
        const applicationId = await applicationOf(call, call.query.application_id);
        // HEAD returns headers only, so it does not use up a stream.
        const data =
          call.method === 'HEAD'
            ? ''
            : await streams.open({
                applicationId,
                filter: { to: readNumberFilter(call.query.to) },
                after: readEventId(call.lastEventId),
                signal: call.signal,
                onCredentialEnd: (act) => call.onCredentialEnd(act),
                mayRead: async () => (await applicationOf(call, call.query.application_id)) === applicationId,
              });
        return streamReply(data);
      },
    }),
    ...createCallRoutes({ calls, applicationOf }),
  ];
}

/** Ignores an id that is not ours: the reader starts from now. */
function readEventId(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}
