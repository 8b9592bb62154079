// Tests: test/hooks/servers.test.ts, test/hooks/calls.test.ts
import type { CallingApplication, Charge, Origin, ProvedCaller, RawRequest, Reply } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import { randomBytes } from '../platform/crypto/random.ts';
import { ApiError, type FieldProblem, invalidField, notFound, unavailable } from '../platform/errors.ts';
import { type Deadline, deadlineIn, inTime } from '../platform/work/deadline.ts';
import { refusalFor, taken } from './answer.ts';
import type { CallLog } from './calls.ts';
import type { CallOutcome, Hook, ProvingSecret } from './hook.ts';
import { kindRules } from './kinds.ts';
import { fieldNames, fieldsOf, type HookPayload, readPayload } from './payload.ts';
import { type HashesOf, isProved } from './proof.ts';

/** A hook with all that its calls need. */
export interface KnownHook {
  hook: Hook;
  secrets: readonly ProvingSecret[];
  /** Its application as a caller of each API; null without an approved registration. */
  verify: ProvedCaller | null;
  sms: ProvedCaller | null;
}

/** The result of a start, for the answer to the server. */
export interface StartedCode {
  id: string;
  status: string;
  reason: string | null;
  sent?: boolean;
}

/** The result of sending a text without a code. */
export interface SentText {
  id: string;
  /** False for a repeated call. */
  sent: boolean;
}

export interface HookReceiverOptions {
  clock: Clock;
  /** Null if there is no such hook. */
  find: (hookId: string) => KnownHook | null | Promise<KnownHook | null>;
  hashesOf: HashesOf;
  /** Starts a verification with the code of the payload. */
  start: (caller: CallingApplication, payload: HookPayload, given: HookStart) => Promise<StartedCode>;
  /** Sends a text without a code, once for the same call. */
  send: (caller: CallingApplication, payload: HookPayload, given: HookStart) => Promise<SentText>;
  calls: Pick<CallLog, 'note'>;
}

export interface HookStart {
  hook: Hook;
  origin: Origin;
}

/** A call as the edge hands it over. */
export interface HookRequest extends Pick<RawRequest, 'headers' | 'body'> {
  kind: string;
  hookId: string;
  origin: Origin;
  charge: Charge;
}

interface Result {
  outcome: CallOutcome;
  subject?: string;
  refusal?: ApiError;
  retryAfterMs?: number;
}

/**
 * Takes the calls of identity servers: proof, limits, payload, then a start with their code. A wrong proof and an unknown
 * hook are charged to the address; a right proof is charged to the registration alone.
 */
export function createHookReceiver(options: HookReceiverOptions) {
  const { clock, find, hashesOf, calls } = options;

  async function chargeStranger(charge: Charge): Promise<void> {
    const { refusal } = await charge(undefined);
    if (refusal !== undefined) throw refusal;
  }

  async function send(
    known: KnownHook,
    payload: HookPayload,
    request: HookRequest,
    deadline: Deadline,
  ): Promise<Result> {
    const api = payload.code === undefined ? 'sms' : 'verify';
    const caller = known[api];
    if (caller === null) return refused(notRegistered(api));
    const { retryAfterMs, refusal } = await request.charge(caller);
    if (refusal !== undefined) return { outcome: 'limited', refusal, retryAfterMs };
    return deliver(caller.caller, payload, { hook: known.hook, origin: request.origin }, deadline);
  }

  async function deliver(
    caller: CallingApplication,
    payload: HookPayload,
    given: HookStart,
    deadline: Deadline | undefined,
  ): Promise<Result> {
    try {
      if (payload.code === undefined) {
        const { id, sent } = await inTime(deadline, options.send(caller, payload, given));
        return { outcome: sent ? 'sent' : 'repeated', subject: id };
      }
      const { id, status, sent, reason } = await inTime(deadline, options.start(caller, payload, given));
      if (status !== 'blocked') return { outcome: sent ? 'sent' : 'repeated', subject: id };
      return { outcome: 'blocked', subject: id, refusal: blocked(reason) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return refused(withNamesOf(given.hook, error));
    }
  }

  /** Returns refusals instead of throwing them, so that each is logged and gets the server's form. */
  async function take(known: KnownHook, request: HookRequest, deadline: Deadline): Promise<Result> {
    const payload = readPayload(known.hook, request.body);
    if ('field' in payload) {
      // Counts like a start, so that a server that sends nonsense meets its limits.
      const caller = known.verify ?? known.sms;
      const charged = caller === null ? undefined : await request.charge(caller);
      return charged?.refusal === undefined
        ? badPayload(payload)
        : { outcome: 'limited', refusal: charged.refusal, retryAfterMs: charged.retryAfterMs };
    }
    return send(known, payload, request, deadline);
  }

  async function receive(request: HookRequest): Promise<Reply> {
    const deadline = deadlineIn(answerWithinMs, clock, tooLate);
    const { kind, hookId, origin, charge } = request;
    const { correlationId } = origin;
    const known = await findInTime(hookId, deadline);
    if (known instanceof ApiError) return inFormOf(kind, known);
    if (known === null || known.hook.kind !== kind) {
      await chargeStranger(charge);
      throw notFound();
    }
    const rules = kindRules[known.hook.kind];
    if (!isProved(rules.proof, request, known.secrets, { nowMs: clock.nowMs(), hashesOf })) {
      // A stranger's flood, which its address limits, must not push the server's own calls out of the list.
      await chargeStranger(charge);
      calls.note({ hookId, id: correlationId, outcome: 'wrong_proof', detail: wrongProof.message, subject: null });
      throw wrongProof;
    }
    const { outcome, subject = null, refusal, retryAfterMs } = await take(known, request, deadline);
    calls.note({ hookId, id: correlationId, outcome, detail: refusal?.message ?? null, subject });
    if (refusal === undefined) return { ...taken, outcome };
    return { ...inFormOf(kind, refusal, retryAfterMs), outcome };
  }

  async function findInTime(hookId: string, deadline: Deadline): Promise<KnownHook | null | ApiError> {
    try {
      const found = find(hookId);
      return found instanceof Promise ? await inTime(deadline, found) : found;
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  return {
    receive,

    /** What a call with a code would do, for the developer. It needs no proof, and counts on the registration as well. */
    async test(hookId: string, to: string, { origin, charge }: Pick<HookRequest, 'origin' | 'charge'>) {
      const known = await find(hookId);
      if (known === null) throw notFound();
      const hasCode = fieldsOf(known.hook).has('code');
      const caller = hasCode ? known.verify : known.sms;
      const { refusal: limit } = caller === null ? {} : await charge(caller);
      if (limit !== undefined) throw limit;
      const payload = {
        to,
        code: hasCode ? anyCode() : undefined,
        text: 'This is a test.',
        locale: undefined,
        ip: undefined,
      };
      const {
        outcome,
        subject = null,
        refusal,
      } = caller === null
        ? refused(notRegistered(hasCode ? 'verify' : 'sms'))
        : await deliver(caller.caller, payload, { hook: known.hook, origin }, undefined);
      const detail = refusal?.message ?? null;
      calls.note({ hookId, id: origin.correlationId, outcome, detail, subject });
      return { outcome, detail, subject };
    },
  };
}

/** The refusal as the server of this kind expects it; thrown if that is the usual form. */
function inFormOf(kind: string, refusal: ApiError, retryAfterMs?: number): Reply {
  const rules = Object.hasOwn(kindRules, kind) ? kindRules[kind as Hook['kind']] : undefined;
  const reply = rules && refusalFor(rules.answer, refusal, retryAfterMs);
  if (reply === undefined) throw refusal;
  return { ...reply, isUnserved: refusal.status === 503 };
}

function anyCode(): string {
  return String(randomBytes(4).readUInt32BE() % 1_000_000).padStart(6, '0');
}

export type HookReceiver = ReturnType<typeof createHookReceiver>;

/** Servers wait 5 s for all their tries, so each answer comes within a second, whatever Postgres does. */
const answerWithinMs = 900;
const tooLate = () =>
  unavailable(
    'The service is overloaded. Try again shortly. The code may be sent nevertheless; a repeated call sends it once.',
  );
const wrongProof = new ApiError('UNAUTHENTICATED', 'The proof of this call is missing, wrong or too old.', {
  headers: { 'WWW-Authenticate': 'Hook realm="heliograph"' },
});

function badPayload({ field, message }: FieldProblem): Result {
  return { outcome: 'bad_payload', refusal: invalidField(field, message) };
}

function refused(refusal: ApiError): Result {
  return { outcome: refusal.status === 503 ? 'unavailable' : 'refused', refusal };
}

function notRegistered(api: 'verify' | 'sms'): ApiError {
  const name = api === 'verify' ? 'the Verification API' : 'the SMS Messaging API';
  return new ApiError('PERMISSION_DENIED', `The application has no approved registration for ${name}.`);
}

function blocked(reason: string | null): ApiError {
  if (reason === 'spend_limit')
    return new ApiError('SPEND_LIMIT', "The application's segments of the day are used up.");
  return new ApiError('PERMISSION_DENIED', `The guard blocked this number: ${reason ?? 'unknown'}.`);
}

/** The server's developer knows its own names of fields. */
function withNamesOf(hook: Hook, error: ApiError): ApiError {
  const [problem] = error.details;
  if (problem === undefined) return error;
  const names: Record<string, string> = { ...fieldNames(hook), message: fieldNames(hook).text };
  return invalidField(names[problem.field] ?? problem.field, problem.message);
}
