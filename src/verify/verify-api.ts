// Tests: test/contract/verifications.test.ts, test/contract/verification-lists.test.ts
import { type Static, Type } from 'typebox';
import { answerOnce } from '../http/answer-once.ts';
import {
  nullable,
  openValues,
  pageQuery,
  pageSchema,
  pathParameter,
  readPage,
  recordId,
  toPage,
} from '../http/list-page.ts';
import { type Route, requireApplication, route } from '../http/route.ts';
import { prefixOfGroup } from '../messages/numbers/number-prefix.ts';
import { readNumberFilter, requireNumber } from '../messages/numbers/phone-number.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Idempotency } from '../platform/database/idempotency.ts';
import { createCheckRoutes } from './check-api.ts';
import type { GuardExplanation } from './explanations.ts';
import type { StartRequest } from './start/decision.ts';
import { codeLengthOf, type ToStart } from './start/request.ts';
import type { StartRules } from './start/rules.ts';
import { canceledVerification } from './verification-examples.ts';
import {
  readSchema,
  reasonSchema,
  startSchema,
  verificationFilters,
  verificationSchema,
} from './verification-record.ts';
import type { VerifyService } from './verify-service.ts';

export interface VerifyRoutesOptions {
  verify: VerifyService;
  idempotency: Idempotency;
  rules: StartRules;
  toStart: ToStart;
}

const base = '/verify/v1/verifications';
const params = Type.Object({ id: pathParameter });

const decisionSchema = Type.Object(
  {
    decision: openValues('GuardVerdict', ['allow', 'block'], { description: 'The decision for a start now' }),
    reason: nullable(reasonSchema),
    rules: Type.Array(
      Type.Object({
        rule: Type.String({ examples: ['per_number'] }),
        limit: Type.Unknown({ description: 'A number, or a list of what is allowed', examples: [10] }),
        seen: Type.Unknown({
          examples: [0],
          description: 'Counting stops at 100, or at one above the limit if that is higher',
        }),
      }),
    ),
    hold: Type.Optional(
      Type.Object(
        {
          id: recordId('hld'),
          country: nullable(Type.String({ description: 'Set if a whole country is held back' })),
          prefix: nullable(Type.String({ examples: ['+44770090'], description: 'The prefix of the held numbers' })),
          numbers: Type.Integer({ description: 'Numbers that got a code' }),
          approved: Type.Integer({ description: 'Numbers whose code was entered' }),
          sample: Type.Boolean({ description: 'Whether this number is one of the two percent that pass' }),
          was_approved: Type.Boolean({ description: 'Whether it passes because it was approved in the last 28 days' }),
          began_at: Type.String(),
          ends_at: Type.String(),
        },
        { title: 'GuardHoldOfNumber', description: 'Present if the number is in a group that is held back' },
      ),
    ),
  },
  { title: 'GuardDecision' },
);

export function createVerifyRoutes(options: VerifyRoutesOptions): Route[] {
  const { verify, idempotency, rules, toStart } = options;
  const shared = { auth: { kind: 'bearer', scope: 'verify:manage' }, tag: 'Verification API' } as const;

  return [
    route({
      method: 'POST',
      path: base,
      ...shared,
      operationId: 'startVerification',
      summary: 'Start a verification and send its code',
      description:
        'A start for a number with a pending verification continues it. The same code is sent again once resend_available_at has passed.',
      body: rules.schema,
      idempotent: true,
      answers: {
        200: {
          description: 'The verification; its status is blocked, with a reason, if the guard refused it',
          schema: startSchema,
          headers: ['Location'],
        },
      },
      refuses: {
        UNSUPPORTED_CHANNEL: 'The channel is not supported',
        UNROUTABLE_DESTINATION: 'No route leads to the number',
      },
      handler: (call) => {
        const caller = requireApplication(call);
        // An answer kept for an idempotency key belongs to the body with its defaults.
        call.body.code_length = codeLengthOf(call.body);
        return answerOnce(idempotency, call, async (keep) => {
          // Only for a new start: what refuses it now must not refuse a replayed answer.
          let request: StartRequest;
          try {
            request = toStart(caller, call.body, call);
          } catch (error) {
            throw await verify.nameChannels(caller.applicationId, error);
          }
          const toAnswer = ({ record }: { record: { id: string } }) => ({
            status: 200,
            body: JSON.stringify(record),
            location: `${base}/${record.id}`,
          });
          return toAnswer(await verify.start(request, call.idempotencyKey, (started) => keep(toAnswer(started))));
        });
      },
    }),
    ...createCheckRoutes(options),
    route({
      method: 'GET',
      path: base,
      ...shared,
      operationId: 'listVerifications',
      summary: 'List verifications, newest first',
      bulkhead: 'side',
      shared: true,
      query: Type.Object({
        ...verificationFilters,
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of verifications', schema: pageSchema(verificationSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const { to, status, reference } = call.query;
        const { applicationId } = requireApplication(call);
        const filter = { to: readNumberFilter(to), status, reference };
        const rows = await verify.list(applicationId, filter, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, ({ record }) => record) };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{id}`,
      ...shared,
      operationId: 'getVerification',
      summary: 'Read a verification',
      params,
      answers: { 200: { description: 'The verification as it is now', schema: readSchema } },
      handler: async (call) => ({
        status: 200,
        body: await verify.read(requireApplication(call).applicationId, call.params.id),
      }),
    }),
    route({
      method: 'DELETE',
      path: `${base}/{id}`,
      ...shared,
      operationId: 'cancelVerification',
      summary: 'Cancel a pending verification',
      params,
      answers: {
        200: { description: 'The canceled verification', schema: verificationSchema, example: canceledVerification },
      },
      refuses: { INCOMPATIBLE_STATE: 'The verification is no longer pending' },
      handler: async (call) => ({
        status: 200,
        body: await verify.cancel(requireApplication(call).applicationId, call.params.id),
      }),
    }),
    route({
      method: 'POST',
      path: '/verify/v1/guard/explain',
      ...shared,
      operationId: 'explainGuard',
      summary: 'Explain what the guard would decide about a number',
      body: rules.explainSchema,
      idempotent: true,
      answers: {
        200: {
          description: 'The decision, and each rule with its limit and count',
          schema: decisionSchema,
        },
      },
      handler: (call) =>
        answerOnce(idempotency, call, async (keep) => {
          const { applicationId, rights } = requireApplication(call);
          const toAnswer = (explanation: GuardExplanation) => ({
            status: 200,
            body: JSON.stringify(toDecision(explanation)),
            location: null,
          });
          const keepExplanation = (explanation: GuardExplanation) => keep(toAnswer(explanation));
          const to = requireNumber(call.body.to);
          return toAnswer(await verify.explain(applicationId, to, rights.holds, keepExplanation));
        }),
    }),
  ];
}

function toDecision({ held, ...decision }: GuardExplanation): Static<typeof decisionSchema> {
  if (held === undefined) return decision;
  const { id, scope, numbers, approved, beganAtMs, untilMs } = held.hold;
  const isPrefix = scope.startsWith('+');
  const hold = {
    id,
    country: isPrefix ? null : scope,
    prefix: isPrefix ? prefixOfGroup(scope) : null,
    numbers,
    approved,
    sample: held.isSample,
    was_approved: held.wasApproved,
    began_at: toTimestamp(beganAtMs),
    ends_at: toTimestamp(untilMs),
  };
  return { ...decision, hold };
}
