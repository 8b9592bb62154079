// Tests: test/twilio/verify.test.ts, test/twilio/libraries.test.ts
import { Type } from 'typebox';
import { pathParameter } from '../http/list-page.ts';
import { exampleSid } from '../http/openapi/field-examples.ts';
import {
  type Call,
  type CallingApplication,
  type ErrorFormat,
  type Origin,
  type Route,
  requireApplication,
  route,
} from '../http/route.ts';
import { channelExpected, type SendingChannel } from '../messages/channel.ts';
import { longestNumber, requireNumber } from '../messages/numbers/phone-number.ts';
import { ApiError, type FieldProblem, notFound } from '../platform/errors.ts';
import { checkOutcome } from '../verify/check-outcome.ts';
import type { StartAnswer } from '../verify/start/item.ts';
import type { StartBody } from '../verify/start/request.ts';
import { codeForm } from '../verify/start/rules.ts';
import { type BlockReason, mostSends, type Verification } from '../verify/verification.ts';
import type { VerifyRoutesOptions } from '../verify/verify-api.ts';
import type { CheckAnswer } from '../verify/verify-service.ts';
import { invalidParameter, refuseProblems, TwilioError, twilioCodes } from './errors.ts';
import { type Fields, type FormRules, problemsOf, readFields } from './form.ts';
import { asJson } from './reply.ts';
import { idOf, sidOf } from './sid.ts';
import { checkSchema, toCheck, toVerification, verificationSchema } from './verification-record.ts';

export interface TwilioVerifyOptions extends Pick<VerifyRoutesOptions, 'verify' | 'rules' | 'toStart'> {
  errors: ErrorFormat;
  publicUrl: string;
}

const base = '/twilio/v2/Services/{service_sid}';
const serviceParams = Type.Object({ service_sid: pathParameter });
const params = Type.Object({ ...serviceParams.properties, verification: pathParameter });

/** The names of our fields in a form of Twilio's. */
const names: Partial<Record<string, string>> = {
  to: 'To',
  channel: 'Channel',
  locale: 'Locale',
  code: 'CustomCode',
  code_length: 'CustomCode',
  'autofill.android_hash': 'AppHash',
  'client.ip': 'DeviceIp',
};
/** Twilio's names of the channels that we have. */
const ourChannels: Readonly<Record<string, SendingChannel>> = { sms: 'sms', call: 'voice', whatsapp: 'whatsapp' };
const notHere = 'is not supported here';
const startForm: FormRules<'To' | 'Channel' | 'Locale' | 'CustomCode' | 'AppHash' | 'DeviceIp'> = {
  longest: { To: 64, Channel: 64, Locale: 64, CustomCode: 64, AppHash: 64, DeviceIp: 512 },
  // Parameters that change the text or the code: to ignore them would send another text than the caller asked for.
  refused: {
    Amount: notHere,
    Payee: notHere,
    CustomMessage: notHere,
    CustomFriendlyName: 'is not supported here: texts name the application',
    SendDigits: notHere,
    TemplateSid: notHere,
    TemplateCustomSubstitutions: notHere,
    ChannelConfiguration: notHere,
  },
};
const checkForm: FormRules<'Code' | 'To' | 'VerificationSid'> = {
  longest: { Code: 64, To: 64, VerificationSid: 64 },
  refused: { Amount: notHere, Payee: notHere },
};
const updateForm: FormRules<'Status'> = { longest: { Status: 64 }, refused: {} };

const text = (maxLength: number, description: string, example: string) =>
  Type.String({ maxLength, description, examples: [example] });

/** The Verify API of Twilio, version 2, over our own. */
export function createTwilioVerifyRoutes(options: TwilioVerifyOptions): Route[] {
  const { verify, rules, toStart, errors, publicUrl } = options;
  const shared = { auth: { kind: 'sid', api: 'verify' }, tag: "Twilio's shape", errors, consumes: 'form' } as const;
  const denied = { PERMISSION_DENIED: 'The application is not registered for the Verification API' };

  function requireService(call: Call<{ service_sid: string }>): CallingApplication {
    const caller = requireApplication(call);
    if (call.params.service_sid !== sidOf('VA', caller.applicationId)) throw notFound();
    return caller;
  }

  /** A sid, or the number of its newest verification. */
  async function requireId(applicationId: string, given: string): Promise<string> {
    const id = given.startsWith('VE') ? idOf('VE', given) : await findOf(applicationId, given);
    if (id === undefined) throw notFound();
    return id;
  }

  async function findOf(applicationId: string, to: string): Promise<string | undefined> {
    return rules.checkNumber({ to }).length > 0 ? undefined : verify.findNewest(applicationId, requireNumber(to));
  }

  function startBody(fields: Fields<'To' | 'Channel' | 'Locale' | 'CustomCode' | 'AppHash' | 'DeviceIp'>): StartBody {
    const { To, Channel, Locale, CustomCode, AppHash, DeviceIp } = fields;
    if (Channel === undefined || !Object.hasOwn(ourChannels, Channel))
      throw invalidParameter('Channel', channelExpected(Object.keys(ourChannels)));
    // One shape for every call: a field that is undefined counts as missing.
    const body = {
      to: To,
      channel: ourChannels[Channel],
      locale: Locale,
      code: CustomCode,
      autofill: AppHash === undefined ? undefined : { android_hash: AppHash },
      client: DeviceIp === undefined ? undefined : { ip: DeviceIp },
    };
    refuseProblems(problemsOf(rules.schema, body), names);
    return body as unknown as StartBody;
  }

  async function start(caller: CallingApplication, body: StartBody, origin: Origin): Promise<StartAnswer> {
    return verify.start(toStart(caller, body, origin), undefined, () => undefined);
  }

  async function readRow(applicationId: string, id: string) {
    const { row, all } = await verify.require(applicationId, id);
    return toVerification(row, publicUrl, all);
  }

  async function check(
    applicationId: string,
    { Code, To, VerificationSid }: Fields<'Code' | 'To' | 'VerificationSid'>,
  ) {
    if (Code === undefined || !codeForm.test(Code))
      throw invalidParameter('Code', 'must be the 4 to 10 digits the user entered');
    if (VerificationSid !== undefined)
      return verify.check(applicationId, await requireId(applicationId, VerificationSid), { code: Code });
    refuseProblems(rules.checkNumber({ to: To }), names);
    if (To === undefined) throw invalidParameter('To', 'or VerificationSid is required');
    return verify.checkNumber(applicationId, requireNumber(To), { code: Code, payment: null });
  }

  return [
    route({
      ...shared,
      method: 'POST',
      path: `${base}/Verifications`,
      operationId: 'twilioStartVerification',
      summary: 'Start a verification and send its code',
      params: serviceParams,
      body: Type.Object(
        {
          To: text(longestNumber, 'Mobile number', '+447700900123'),
          Channel: text(64, 'How the code is sent: sms, call or whatsapp', 'sms'),
          Locale: Type.Optional(text(64, 'Language of the text', 'de')),
          CustomCode: Type.Optional(text(64, 'A code that you made', '482913')),
          AppHash: Type.Optional(text(64, 'For the SMS Retriever of Android', 'FA+9qCX9VSu')),
          DeviceIp: Type.Optional(text(512, 'The IP address of the person', '203.0.113.7')),
        },
        { title: 'TwilioVerificationToStart' },
      ),
      answers: { 201: { description: 'The verification', schema: verificationSchema, headers: ['Location'] } },
      refuses: denied,
      handler: async (call) => {
        const caller = requireService(call);
        const body = startBody(readFields(call.body as unknown as URLSearchParams, startForm));
        const started = await start(caller, body, call).catch(asParameter);
        refuseStart(started);
        const { verification, record } = started;
        const sent = record.deliveries.map(({ message_id: messageId, channel }) => ({ messageId, channel }));
        const content = asJson(toVerification(verification, publicUrl, sent));
        return { status: 201, location: locationOf(verification), content };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/Verifications/{verification}`,
      operationId: 'twilioGetVerification',
      summary: 'Read a verification, by its sid or its number',
      params,
      answers: { 200: { description: 'The verification', schema: verificationSchema } },
      refuses: denied,
      handler: async (call) => {
        const { applicationId } = requireService(call);
        const id = await requireId(applicationId, call.params.verification);
        return { status: 200, content: asJson(await readRow(applicationId, id)) };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/Verifications/{verification}`,
      operationId: 'twilioUpdateVerification',
      summary: 'Cancel a verification, or report that its CustomCode was right',
      params,
      body: Type.Object(
        { Status: text(64, 'canceled, or approved for a CustomCode', 'canceled') },
        { title: 'TwilioVerificationUpdate' },
      ),
      answers: { 200: { description: 'The verification', schema: verificationSchema } },
      refuses: denied,
      handler: async (call) => {
        const { applicationId } = requireService(call);
        const { Status } = readFields(call.body as unknown as URLSearchParams, updateForm);
        if (Status !== 'canceled' && Status !== 'approved')
          throw invalidParameter('Status', 'must be canceled or approved');
        const id = await requireId(applicationId, call.params.verification);
        const { row } = await verify.require(applicationId, id);
        if (row.status !== 'pending') throw notFound();
        if (Status === 'canceled') await verify.cancel(applicationId, id).catch(asEnded);
        else {
          if (row.codeHash === null) throw invalidParameter('Status', 'approved only goes with a CustomCode');
          await verify.report(applicationId, id, 'approved').catch(asEnded);
        }
        return { status: 200, content: asJson(await readRow(applicationId, id)) };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/VerificationCheck`,
      operationId: 'twilioCheckVerification',
      summary: 'Check the code that the user entered',
      params: serviceParams,
      body: Type.Object(
        {
          Code: text(64, 'The digits that the user entered', '482913'),
          To: Type.Optional(text(longestNumber, 'The number, or VerificationSid', '+447700900123')),
          VerificationSid: Type.Optional(text(64, 'The verification', exampleSid('VE'))),
        },
        { title: 'TwilioCodeToCheck', examples: [{ To: '+447700900123', Code: '482913' }] },
      ),
      answers: { 200: { description: 'The verification; valid says whether the code was right', schema: checkSchema } },
      refuses: denied,
      handler: async (call) => {
        const { applicationId } = requireService(call);
        const fields = readFields(call.body as unknown as URLSearchParams, checkForm);
        const { verification } = await check(applicationId, fields).catch(asEnded<CheckAnswer>);
        refuseCheck(verification);
        return { status: 200, content: asJson(toCheck(verification)), outcome: checkOutcome(verification) };
      },
    }),
  ];
}

function locationOf({ id }: Verification): string {
  return `/verify/v1/verifications/${id}`;
}

/** Twilio answers a blocked start, and one that may send no more, with an error. */
function refuseStart({ verification, record }: StartAnswer): void {
  const { status, reason } = verification;
  const headers = { Location: locationOf(verification) };
  if (status === 'blocked') {
    const number = blockedNumbers[reason as BlockReason] ?? twilioCodes.blocked;
    throw withHeaders(
      new TwilioError('INVALID_ARGUMENT', number, `The guard blocked this number: ${reason}.`),
      headers,
    );
  }
  if (record.sent === false && verification.sends >= mostSends) {
    const message = `The code was sent ${verification.sends} times, the maximum. Start again when it has expired.`;
    throw withHeaders(new TwilioError('INVALID_ARGUMENT', twilioCodes.noSendsLeft, message), headers);
  }
}

const blockedNumbers: Partial<Record<BlockReason, number>> = {
  country_not_allowed: twilioCodes.country,
  number_type: twilioCodes.landline,
};

/** Adds the Location by which the request's trace finds the record. */
function withHeaders(error: TwilioError, headers: Record<string, string>): TwilioError {
  Object.assign(error.headers, headers);
  return error;
}

/** Twilio keeps nothing of a verification that has ended: it is not found. */
function refuseCheck({ status }: Verification): void {
  if (status === 'failed')
    throw new TwilioError('INVALID_ARGUMENT', twilioCodes.noTriesLeft, 'No try is left. Start a new verification.');
  if (status !== 'pending' && status !== 'approved') throw notFound();
}

function asEnded<Result>(error: unknown): Result {
  if (error instanceof ApiError && ended.includes(error.code)) throw notFound();
  throw error;
}

const ended: readonly string[] = ['VERIFICATION_ALREADY_APPROVED', 'INCOMPATIBLE_STATE'];

function inTwiliosWords({ field, message }: FieldProblem): FieldProblem {
  return { field, message: field === 'channel' ? message.replace('voice', 'call') : message };
}

/** Refusals of the services name our fields. */
function asParameter(error: unknown): never {
  if (error instanceof ApiError && error.status === 400) refuseProblems(error.details.map(inTwiliosWords), names);
  throw error;
}
