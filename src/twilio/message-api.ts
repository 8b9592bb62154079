// Tests: test/twilio/messages.test.ts, test/twilio/libraries.test.ts
import { Type } from 'typebox';
import { pathParameter } from '../http/list-page.ts';
import { exampleSid } from '../http/openapi/field-examples.ts';
import {
  type Call,
  type CallingApplication,
  type ErrorFormat,
  type Route,
  requireApplication,
  route,
} from '../http/route.ts';
import { isMessage } from '../messages/acceptance.ts';
import type { Message } from '../messages/message.ts';
import type { MessageRoutesOptions } from '../messages/message-routes-options.ts';
import { senderOfCodes } from '../messages/numbers/held-sender.ts';
import { longestNumber, readNumberFilter } from '../messages/numbers/phone-number.ts';
import { readSend, type SendBody } from '../messages/send-rules.ts';
import { type ApiError, notFound } from '../platform/errors.ts';
import { senderName } from '../verify/texts/sender-name.ts';
import { invalidParameter, refuseProblems, TwilioError, twilioCodes } from './errors.ts';
import { type Fields, type FormRules, problemsOf, readFields, toBoolean, toNumber } from './form.ts';
import { pageLinks, readPage } from './message-page.ts';
import { messagePageSchema, messageSchema, toMessage } from './message-record.ts';
import { asJson } from './reply.ts';
import { idOf, sidOf } from './sid.ts';

export interface TwilioMessageOptions extends Pick<MessageRoutesOptions, 'messages' | 'rules'> {
  errors: ErrorFormat;
  /** Why a URL cannot be called; completes a sentence. */
  urlProblem: (url: string) => string | undefined;
}

const base = '/twilio/2010-04-01/Accounts/{account_sid}';
const accountParams = Type.Object({ account_sid: pathParameter });
const params = Type.Object({ ...accountParams.properties, message: pathParameter });
const jsonEnd = '.json';

type SendField =
  | 'To'
  | 'From'
  | 'MessagingServiceSid'
  | 'Body'
  | 'StatusCallback'
  | 'ValidityPeriod'
  | 'SendAt'
  | 'ScheduleType'
  | 'SmartEncoded';

const names: Partial<Record<string, string>> = {
  to: 'To',
  from: 'From',
  message: 'Body',
  validity_seconds: 'ValidityPeriod',
  send_at: 'SendAt',
  smart_encoding: 'SmartEncoded',
};
const numbers = { to: twilioCodes.badNumber };
const textOnly = 'is not supported here: only texts are sent';
/** In UTF-16 units; our rules bound the text by its segments. */
const longestBody = 4096;
const longestUrl = 2048;
const sendForm: FormRules<SendField> = {
  longest: {
    To: 64,
    From: 64,
    MessagingServiceSid: 64,
    Body: longestBody,
    StatusCallback: longestUrl,
    ValidityPeriod: 16,
    SendAt: 64,
    ScheduleType: 64,
    SmartEncoded: 16,
  },
  refused: { MediaUrl: textOnly, ContentSid: textOnly, ContentVariables: textOnly, PersistentAction: textOnly },
};
const updateForm: FormRules<'Status' | 'Body'> = { longest: { Status: 64, Body: longestBody }, refused: {} };
const text = (maxLength: number, description: string, example: string) =>
  Type.String({ maxLength, description, examples: [example] });

/** The Messages resource of Twilio's API of 2010, over our SMS API. */
export function createTwilioMessageRoutes({ messages, rules, errors, urlProblem }: TwilioMessageOptions): Route[] {
  const shared = { auth: { kind: 'sid', api: 'sms' }, tag: "Twilio's shape", errors, consumes: 'form' } as const;
  const denied = { PERMISSION_DENIED: 'The application is not registered for the SMS Messaging API' };

  function requireAccount(call: Call<{ account_sid: string }>): CallingApplication {
    const caller = requireApplication(call);
    if (call.params.account_sid !== sidOf('AC', caller.applicationId)) throw notFound();
    return caller;
  }

  /** The message of a path that ends in `.json`. */
  function requireId(call: Call<{ account_sid: string; message: string }>): { applicationId: string; id: string } {
    const { applicationId } = requireAccount(call);
    const { message } = call.params;
    const id = message.endsWith(jsonEnd) ? idOf('SM', message.slice(0, -jsonEnd.length)) : undefined;
    if (id === undefined) throw notFound();
    return { applicationId, id };
  }

  function sendBody(fields: Fields<SendField>, caller: CallingApplication): SendBody {
    const { To, Body, ValidityPeriod, SendAt, ScheduleType, SmartEncoded } = fields;
    if (ScheduleType !== undefined && ScheduleType !== 'fixed') throw invalidParameter('ScheduleType', 'must be fixed');
    if ((SendAt === undefined) !== (ScheduleType === undefined))
      throw invalidParameter(
        SendAt === undefined ? 'SendAt' : 'ScheduleType',
        'is required: SendAt and ScheduleType go together',
      );
    // One shape for every call: a field that is undefined counts as missing.
    const body = {
      to: To,
      from: senderOf(fields, caller),
      message: Body,
      validity_seconds: toNumber(ValidityPeriod),
      send_at: SendAt,
      smart_encoding: toBoolean(SmartEncoded),
    };
    refuseProblems(problemsOf(rules.sms, body), names, numbers);
    return body as unknown as SendBody;
  }

  /** The URL as the URL standard writes it: so it is called and signed. */
  function readCallback(given: string | undefined): string | undefined {
    if (given === undefined) return undefined;
    const problem = urlProblem(given);
    if (problem !== undefined) throw invalidParameter('StatusCallback', problem);
    const { href } = new URL(given);
    if (href.length > longestUrl)
      throw invalidParameter('StatusCallback', `must have at most ${longestUrl} characters, percent-encoded`);
    return href;
  }

  return [
    route({
      ...shared,
      method: 'POST',
      path: `${base}/Messages.json`,
      operationId: 'twilioCreateMessage',
      summary: 'Send a text',
      params: accountParams,
      body: Type.Object(
        {
          To: text(longestNumber, 'Destination number', '+447700900123'),
          From: Type.Optional(text(64, 'The sender, or MessagingServiceSid', 'ACME')),
          MessagingServiceSid: Type.Optional(text(64, "Stands for the application's first sender", exampleSid('MG'))),
          Body: text(longestBody, 'The text', 'Your order has left our house.'),
          StatusCallback: Type.Optional(text(longestUrl, 'Called when the status changes', 'https://example.com/sms')),
          ValidityPeriod: Type.Optional(text(16, 'Seconds in which carriers try to deliver it', '3600')),
          SendAt: Type.Optional(text(64, 'RFC 3339, up to 7 days ahead', '2026-01-31T18:00:00Z')),
          ScheduleType: Type.Optional(text(64, 'fixed, with SendAt', 'fixed')),
          SmartEncoded: Type.Optional(text(16, 'true or false', 'true')),
        },
        {
          title: 'TwilioMessageToSend',
          examples: [{ To: '+447700900124', From: 'ACME', Body: 'Your order has left.' }],
        },
      ),
      answers: { 201: { description: 'Accepted and stored', schema: messageSchema, headers: ['Location'] } },
      refuses: { ...denied, SPEND_LIMIT: "The application's segments of the day are used up" },
      handler: async (call) => {
        const caller = requireAccount(call);
        const { applicationId, rights } = caller;
        const fields = readFields(call.body as unknown as URLSearchParams, sendForm);
        const statusCallback = readCallback(fields.StatusCallback);
        const body = sendBody(fields, caller);
        const spender = { applicationId, segmentsPerDay: rights.segmentsPerDay };
        const context = {
          applicationId,
          rights,
          api: 'sms',
          correlationId: call.correlationId,
          trace: call.trace,
        } as const;
        const prepared = messages.prepare(readSend(body, caller), context);
        if (!isMessage(prepared)) throw asParameter(await messages.refusalOf(prepared, spender), fields);
        const message = statusCallback === undefined ? prepared : { ...prepared, statusCallback };
        const [outcome = message] = await messages.accept(spender, [message], () => undefined, call.trace);
        if (!isMessage(outcome)) throw outcome;
        refuseOptedOut(outcome);
        const record = toMessage(outcome, call.params.account_sid, fields.MessagingServiceSid ?? null);
        return { status: 201, location: locationOf(outcome), content: asJson(record) };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/Messages.json`,
      operationId: 'twilioListMessages',
      summary: 'List messages, newest first',
      description: 'A page has up to 100 messages, whatever PageSize says. Go on with `next_page_uri`.',
      bulkhead: 'side',
      shared: true,
      params: accountParams,
      query: Type.Object({
        To: Type.Optional(text(longestNumber, 'Only texts to this number', '+447700900123')),
        PageSize: Type.Integer({ minimum: 1, maximum: 1000, default: 50, expected: 'a whole number from 1 to 1000' }),
        Page: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Counts the pages' }),
        PageToken: Type.Optional(text(64, 'Where the page begins', `PA${exampleSid('SM')}`)),
        From: unsupportedFilter,
        DateSent: unsupportedFilter,
        'DateSent<': unsupportedFilter,
        'DateSent>': unsupportedFilter,
      }),
      answers: { 200: { description: 'A page of messages', schema: messagePageSchema } },
      refuses: denied,
      handler: async (call) => {
        const { applicationId } = requireAccount(call);
        const { query } = call;
        for (const name of ['From', 'DateSent', 'DateSent<', 'DateSent>'] as const)
          if (query[name] !== undefined) throw invalidParameter(name, 'is no filter here: use To');
        const { limit, after } = readPage(query);
        const filter = { to: readNumberFilter(query.To) };
        const found = await messages.list(applicationId, 'sms', filter, { limit: limit + 1, after });
        const shown = found.rows.slice(0, limit);
        const lastId = found.rows.length > limit ? shown.at(-1)?.id : found.searchedTo;
        const start = query.Page * limit;
        return {
          status: 200,
          body: {
            messages: shown.map((message) => toMessage(message, call.params.account_sid)),
            page: query.Page,
            page_size: limit,
            start,
            end: Math.max(start, start + shown.length - 1),
            ...pageLinks(call.params.account_sid, query, lastId),
          },
        };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/Messages/{message}`,
      operationId: 'twilioGetMessage',
      summary: 'Read a message',
      params,
      answers: { 200: { description: 'The message as it is now', schema: messageSchema } },
      refuses: denied,
      handler: async (call) => {
        const { applicationId, id } = requireId(call);
        return {
          status: 200,
          content: asJson(toMessage(await messages.require(applicationId, 'sms', id), call.params.account_sid)),
        };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/Messages/{message}`,
      operationId: 'twilioUpdateMessage',
      summary: 'Cancel a scheduled or queued message',
      params,
      body: Type.Object({ Status: text(64, 'canceled', 'canceled') }, { title: 'TwilioMessageUpdate' }),
      answers: { 200: { description: 'The canceled message', schema: messageSchema } },
      refuses: { ...denied, INCOMPATIBLE_STATE: 'The message is no longer scheduled or queued' },
      handler: async (call) => {
        const { applicationId, id } = requireId(call);
        const { Status, Body } = readFields(call.body as unknown as URLSearchParams, updateForm);
        if (Body !== undefined)
          throw invalidParameter('Body', 'cannot be changed: the service masks a text when its retention time is over');
        if (Status !== 'canceled') throw invalidParameter('Status', 'must be canceled');
        return {
          status: 200,
          content: asJson(toMessage(await messages.cancel(applicationId, 'sms', id), call.params.account_sid)),
        };
      },
    }),
  ];
}

const unsupportedFilter = Type.Optional(text(64, 'Refused: only To filters', '2026-01-31'));

/** A messaging service stands for the application's first sender for the number, else for its name. */
function senderOf(fields: Fields<SendField>, { applicationId, applicationName, rights }: CallingApplication) {
  const { To = '', From, MessagingServiceSid } = fields;
  if (From !== undefined) return From;
  if (MessagingServiceSid === undefined) return undefined;
  if (MessagingServiceSid !== sidOf('MG', applicationId)) throw notFound();
  return senderOfCodes(rights, To) ?? senderName(applicationName);
}

function locationOf({ id }: Message): string {
  return `/sms/v1/messages/${id}`;
}

/** Refuses with a Location: the record of the text exists, and the caller finds it in lists, too. */
function refuseOptedOut(message: Message): void {
  if (message.errorCode !== 'blocked_by_recipient') return;
  const refusal = new TwilioError('INVALID_ARGUMENT', twilioCodes.optedOut, 'The recipient has opted out of texts.');
  refusal.headers.Location = locationOf(message);
  throw refusal;
}

/** Refusals of the services name our fields. A messaging service stands for the sender. */
function asParameter(error: ApiError, { From }: Fields<SendField>): ApiError {
  const [problem] = error.details;
  if (error.status !== 400 || problem === undefined) return error;
  const name = problem.field === 'from' && From === undefined ? 'MessagingServiceSid' : names[problem.field];
  return invalidParameter(name ?? problem.field, problem.message, problem.field === 'to' ? numbers.to : undefined);
}
