// Tests: test/contract/verifications.test.ts, test/contract/number-checks.test.ts, test/contract/verification-outcomes.test.ts
import { Type } from 'typebox';
import { answerOnce } from '../http/answer-once.ts';
import { pathParameter } from '../http/list-page.ts';
import { type Call, type Reply, type Route, requireApplication, route } from '../http/route.ts';
import { requireNumber } from '../messages/numbers/phone-number.ts';
import type { AnswerToKeep, Idempotency } from '../platform/database/idempotency.ts';
import { type Payment, paymentProblems, paymentToConfirm, toPaymentCell } from './assurance/payment.ts';
import { checkOutcome } from './check-outcome.ts';
import { codePattern, type StartRules } from './start/rules.ts';
import { type Outcome, outcomes } from './verification.ts';
import { checkSchema, verificationSchema } from './verification-record.ts';
import type { CheckAnswer, VerifyService } from './verify-service.ts';

export interface CheckRoutesOptions {
  verify: VerifyService;
  idempotency: Idempotency;
  rules: Pick<StartRules, 'to' | 'checkNumber'>;
}

const shared = { auth: { kind: 'bearer', scope: 'verify:manage' }, tag: 'Verification API' } as const;
const params = Type.Object({ id: pathParameter });
const code = Type.String({
  maxLength: 10,
  pattern: codePattern,
  expected: 'the 4 to 10 digits the user entered, as a string',
  examples: ['123456'],
});
const checked = {
  answers: { 200: { description: 'The verification; valid says whether the code was right', schema: checkSchema } },
  refuses: {
    INCOMPATIBLE_STATE: 'The verification has no code: the person sends its text',
    VERIFICATION_ALREADY_APPROVED: 'The verification is already approved: a code works once',
  },
} as const;

/** Routes that check a code by id or by number, and the route by which a caller reports the outcome of its own check. */
export function createCheckRoutes({ verify, idempotency, rules }: CheckRoutesOptions): Route[] {
  type Keep = (checked: CheckAnswer) => AnswerToKeep;

  async function answerCheck(call: Call, check: (keep: Keep | undefined) => Promise<CheckAnswer>): Promise<Reply> {
    let outcome = 'Replayed the response to the first request with this Idempotency-Key';
    const reply = await answerOnce(idempotency, call, async (keep) => {
      const toAnswer = ({ record }: { record: object }) => ({
        status: 200,
        body: JSON.stringify(record),
        location: null,
      });
      const keyed = call.idempotencyKey !== undefined;
      const answer = await check(keyed ? (decided) => required(keep(toAnswer(decided))) : undefined);
      outcome = checkOutcome(answer.verification);
      return toAnswer(answer);
    });
    return { ...reply, outcome };
  }

  return [
    route({
      method: 'POST',
      path: '/verify/v1/verifications/{id}',
      ...shared,
      operationId: 'checkVerification',
      summary: 'Check the code that the user entered',
      description:
        'The body may repeat the payment; one that differs from that of the verification gets a 400. A wrong code spends a try, even if its length differs from that of the code. A value that is not 4 to 10 digits gets a 400 and spends no try.',
      params,
      body: Type.Object(
        { code, payment: paymentToConfirm },
        { check: ({ payment }: Record<string, unknown>) => paymentProblems(payment) },
      ),
      idempotent: true,
      ...checked,
      handler: (call) => {
        const { applicationId } = requireApplication(call);
        return answerCheck(call, (keep) =>
          verify.check(applicationId, call.params.id, { code: call.body.code, payment: namedIn(call.body) }, keep),
        );
      },
    }),
    route({
      method: 'POST',
      path: '/verify/v1/checks',
      ...shared,
      operationId: 'checkNumber',
      summary: 'Check the code that the user entered, by number',
      description:
        'The same as a check by id, for the pending verification of the number, else for the newest that started within 24 hours. The payment of the verification must be named.',
      body: Type.Object(
        { to: rules.to, code, payment: paymentToConfirm },
        {
          title: 'NumberToCheck',
          check: (body: Record<string, unknown>) => [...rules.checkNumber(body), ...paymentProblems(body.payment)],
        },
      ),
      idempotent: true,
      answers: checked.answers,
      refuses: {
        ...checked.refuses,
        NOT_FOUND: 'The application started no verification of this number in the last 24 hours',
      },
      handler: (call) => {
        const { applicationId } = requireApplication(call);
        const to = requireNumber(call.body.to);
        const given = { code: call.body.code, payment: namedIn(call.body) ?? null };
        return answerCheck(call, (keep) => verify.checkNumber(applicationId, to, given, keep));
      },
    }),
    route({
      method: 'PUT',
      path: '/verify/v1/verifications/{id}/outcome',
      ...shared,
      operationId: 'putOutcome',
      summary: 'Report the result of a code that you made and checked yourself',
      description:
        'Ends the verification. After its expiry it stays expired, and the result is counted. Only for a verification that was started with a code; it gives no proof.',
      params,
      body: Type.Object(
        {
          outcome: Type.Unsafe<Outcome>({
            type: 'string',
            enum: [...outcomes],
            expected: `one of ${outcomes.join(', ')}`,
            description: 'Whether the user entered the code',
          }),
        },
        { title: 'OutcomeToReport' },
      ),
      answers: { 200: { description: 'The verification', schema: verificationSchema } },
      refuses: {
        INCOMPATIBLE_STATE: 'The verification was started without a code, has another outcome, or was canceled',
      },
      handler: async (call) => {
        const { applicationId } = requireApplication(call);
        return { status: 200, body: await verify.report(applicationId, call.params.id, call.body.outcome) };
      },
    }),
  ];
}

/** The payment in a request, as rows store it; undefined if the request names none. */
const namedIn = ({ payment }: { payment?: Payment | null }) => (payment == null ? undefined : toPaymentCell(payment));

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a request with a key keeps its answer');
  return value;
}
