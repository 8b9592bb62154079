// Tests: test/contract/inbound.test.ts
import { Type } from 'typebox';
import { recordId } from '../http/list-page.ts';
import { type Auth, type Call, type Route, route } from '../http/route.ts';
import {
  longestNumber,
  numberPattern,
  numberProblem,
  requireNumber,
  rightNumber,
} from '../messages/numbers/phone-number.ts';
import { longestSender } from '../messages/numbers/sender.ts';
import { longestText, rightText, textProblem } from '../messages/text/text.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { type FieldProblem, invalidField, notFound } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Holder } from './handle-keyword.ts';
import { inboundSchema, toInboundRecord } from './inbound-record.ts';
import { canonicalNumber } from './own-number.ts';
import { findNumbers } from './own-number-store.ts';
import type { InboundReceiver } from './receive.ts';

export interface HandsetReplyOptions {
  database: Database;
  clock: Clock;
  receiver: Pick<InboundReceiver, 'reply'>;
  /** Receives the texts of verifications for every application. */
  verificationNumber: string;
  /** The API of a recent text from this sender to a virtual phone; undefined if there is none. */
  findReceivedFrom: (applicationId: string, handset: string, sender: string) => Promise<Holder['api'] | undefined>;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const auth: Auth[] = [{ kind: 'apikey' }, { kind: 'bearer', scope: undefined }, { kind: 'developer' }];
/** The carrier of the virtual phones. */
const sandbox = { key: 'sandbox', account: 'sandbox' };

const bodySchema = Type.Object(
  {
    application_id: Type.Optional(Type.String({ maxLength: 256, description: 'Required with a portal session' })),
    from: Type.String({
      examples: ['+447700900123'],
      shownPattern: numberPattern,
      maxLength: longestNumber,
      expected: rightNumber,
      description: "The virtual phone's number",
    }),
    to: Type.String({
      minLength: 1,
      maxLength: Math.max(longestSender, longestNumber),
      examples: ['80123'],
      description: 'A number of the application, or the sender of a text that this phone got from it',
    }),
    message: Type.String({ maxLength: longestText, expected: rightText, examples: ['Where is my order?'] }),
  },
  { title: 'HandsetReply', check: checkBody },
);

const replySchema = Type.Object(
  {
    ...Type.Partial(inboundSchema).properties,
    verification_id: Type.Optional(recordId('ver')),
  },
  { title: 'HandsetReplyTaken' },
);

/** Lets a person with a virtual phone answer an application, in the sandbox only. */
export function createHandsetReplyRoutes(options: HandsetReplyOptions): Route[] {
  const { database, clock, receiver, findReceivedFrom, verificationNumber } = options;

  async function applicationOf({ caller }: Call, given: string | undefined): Promise<string> {
    if (caller.kind === 'application') return caller.applicationId;
    if (caller.kind !== 'developer') throw notFound();
    if (given === undefined) throw invalidField('application_id', 'is required with a portal session');
    await options.requireOwn(caller.accountId, given);
    return given;
  }

  async function findHolder(applicationId: string, from: string, to: string): Promise<Holder | undefined> {
    const own = (await findNumbers(database, [to])).find((number) => number.applicationId === applicationId);
    if (own !== undefined) return own;
    const api = await findReceivedFrom(applicationId, from, to);
    return api && { applicationId, api };
  }

  return [
    route({
      method: 'POST',
      path: '/sandbox/v1/inbox/replies',
      auth,
      tag: 'Sandbox',
      limitedBy: 'address',
      operationId: 'replyFromHandset',
      summary: 'Answer an application from a virtual handset',
      body: bodySchema,
      answers: {
        201: {
          description: 'The text as the application gets it, or the verification that it approved',
          schema: replySchema,
          headers: ['Location'],
        },
      },
      refuses: { NOT_FOUND: 'The application does not belong to the developer' },
      handler: async (call) => {
        const { application_id, message: text } = call.body;
        const applicationId = await applicationOf(call, application_id);
        const from = requireNumber(call.body.from);
        const to = canonicalNumber(call.body.to);
        const holder = to.includes('\0') ? undefined : await findHolder(applicationId, from, to);
        if (holder === undefined && to !== verificationNumber) throw invalidField('to', toProblem);
        // Each reply is a text of its own, also if it says the same as the last one.
        const sent = { carrierMessageId: newId('inb', clock), from, to, text, part: null };
        const { record, verificationId } = await receiver.reply(sandbox, sent, holder);
        if (verificationId !== undefined) {
          return {
            status: 201,
            body: { verification_id: verificationId },
            location: `/verify/v1/verifications/${verificationId}`,
          };
        }
        if (record === undefined) throw new Error('a reply was not kept');
        const location = record.api === null ? `/sandbox/v1/inbox` : `/${record.api}/v1/inbound/${record.id}`;
        return { status: 201, body: toInboundRecord(record), location };
      },
    }),
  ];
}

const toProblem =
  'must be a number that the application holds, or the sender of a text that this virtual handset got from it';

function checkBody({ from, message }: Record<string, unknown>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const fromProblem = typeof from === 'string' ? numberProblem(from, 'sandbox') : undefined;
  if (fromProblem !== undefined) problems.push({ field: 'from', message: fromProblem });
  const problem = typeof message === 'string' && message.length <= longestText ? textProblem(message) : undefined;
  if (problem !== undefined) problems.push({ field: 'message', message: problem });
  return problems;
}
