// Tests: test/smpp-server/submit.test.ts
import type { CountedRequest, KnownCaller, LimitDecision } from '../http/admission.ts';
import { isMessage } from '../messages/acceptance.ts';
import type { Message } from '../messages/message.ts';
import type { MessageService } from '../messages/message-service.ts';
import { textProblem } from '../messages/text/text.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { type SubmitPdu, statuses } from '../smpp/pdu.ts';
import type { KnownAccount, SmppAccount } from './account.ts';
import type { Bind } from './bind.ts';
import type { QueryAnswer, SubmitAnswer } from './requests.ts';
import { statusCallbackOf } from './status-callback.ts';
import { isRefusal, type Refusal, readSubmit, refuse, type SubmitRequest, textOf } from './submit-fields.ts';

export interface Limiter {
  decide(known: KnownCaller): LimitDecision | Promise<LimitDecision>;
  /** An admitted request was not served. */
  giveBack(known: KnownCaller, decision: LimitDecision): unknown;
  /** The 429 of a decision, for its trace. */
  refusalOf(decision: LimitDecision): ApiError;
}

export interface SubmitsOptions {
  clock: Clock;
  log: Log;
  environment: 'sandbox' | 'production';
  messages: Pick<MessageService, 'prepare' | 'accept' | 'refusalOf'>;
  /** The account now; null if its password is no longer valid. */
  find(bind: Bind): KnownAccount | null | Promise<KnownAccount | null>;
  limiter: Limiter;
  onCounted: (request: CountedRequest) => void;
  /** Something was refused, for the developer. */
  onRefused: (bind: Bind, command: string, refusal: Refusal) => void;
  /** A part of a long text. */
  addPart: (part: PartToAdd) => Promise<SubmitAnswer | Refusal>;
}

export interface PartToAdd {
  account: SmppAccount;
  known: KnownCaller;
  request: SubmitRequest;
  correlationId: string;
}

/** One request of a bind: what it costs, who asks, when it began. */
interface Arrived {
  bind: Bind;
  known: KnownCaller;
  decision: LimitDecision;
  command: string;
  correlationId: string;
  startedMs: number;
}

const throttled: SubmitAnswer = Object.freeze({ status: statuses.throttled, messageId: '' });
const gone: SubmitAnswer = Object.freeze({ status: statuses.bindFailed, messageId: '' });
const nothing = () => undefined;

/**
 * Takes submits: each is a send of the SMS API, decided by the same limits and written by the same commit. Submits that
 * are read in one turn of the event loop share it.
 */
export function createSubmits(options: SubmitsOptions) {
  const { clock, log, environment, messages, find, limiter, onCounted, onRefused, addPart } = options;

  /** Finds the account and lets the limits decide, without a promise where neither needs one. */
  function admit<Answer>(
    bind: Bind,
    command: string,
    refused: (status: number) => Answer,
    work: (arrived: Arrived) => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    const startedMs = clock.steadyMs();
    const decided = (known: KnownCaller, decision: LimitDecision) => {
      const arrived = { bind, known, decision, command, correlationId: newId('req', clock), startedMs };
      if (decision.admitted) return work(arrived);
      bind.throttled++;
      count(arrived, 429, limiter.refusalOf(decision));
      return refused(statuses.throttled);
    };
    const found = (account: KnownAccount | null) => {
      if (account === null) return refused(gone.status);
      const decision = limiter.decide(account.known);
      return decision instanceof Promise
        ? decision.then((made) => decided(account.known, made))
        : decided(account.known, decision);
    };
    const account = find(bind);
    const answer = account instanceof Promise ? account.then(found) : found(account);
    return answer instanceof Promise
      ? answer.catch((error: unknown) => refused(statusOfError(error, command)))
      : answer;
  }

  function count(arrived: Arrived, status: number, refusal: ApiError | undefined, location?: string): void {
    const { known, decision, command, correlationId, startedMs } = arrived;
    const durationMs = clock.steadyMs() - startedMs;
    onCounted({
      ...{ caller: known.caller, correlationId, decision, method: 'SMPP', path: command, status, refusal },
      ...{ outcome: undefined, durationMs, id: undefined, location },
    });
  }

  /** A request that was not served gives its slot back, as a 503 does. */
  function failed(arrived: Arrived, error: unknown): number {
    const known = error instanceof ApiError ? error : undefined;
    const status = statusOfError(error, arrived.command);
    if (known === undefined || known.status === 503) {
      limiter.giveBack(arrived.known, arrived.decision);
      count(arrived, 503, known);
    } else count(arrived, known.status, known);
    onRefused(arrived.bind, arrived.command, refuse(status, known?.message ?? 'an error of this service; try again'));
    return status;
  }

  function statusOfError(error: unknown, command: string): number {
    if (!(error instanceof ApiError)) log.error({ err: error, command }, 'an SMPP request failed');
    return error instanceof ApiError ? statusOf(error) : statuses.systemError;
  }

  function refusedBy(arrived: Arrived, refusal: Refusal): SubmitAnswer {
    arrived.bind.refused++;
    count(arrived, 400, new ApiError('INVALID_ARGUMENT', refusal.why));
    onRefused(arrived.bind, arrived.command, refusal);
    return { status: refusal.status, messageId: '' };
  }

  function submit(bind: Bind, pdu: SubmitPdu): SubmitAnswer | Promise<SubmitAnswer> {
    bind.submits++;
    return admit<SubmitAnswer>(bind, 'submit_sm', refusedWith, (arrived) => take(arrived, pdu));
  }

  function take(arrived: Arrived, pdu: SubmitPdu): SubmitAnswer | Promise<SubmitAnswer> {
    const { highPriority } = arrived.known.caller;
    const request = readSubmit(pdu, { nowMs: clock.nowMs(), environment, highPriority });
    if (isRefusal(request)) return refusedBy(arrived, request);
    return request.part === null ? send(arrived, request) : takePart(arrived, request);
  }

  async function send(arrived: Arrived, request: SubmitRequest): Promise<SubmitAnswer> {
    const { bind, known, correlationId } = arrived;
    const text = textOf(request);
    const problem = textProblem(text);
    if (problem !== undefined)
      return refusedBy(arrived, refuse(statuses.invalidMessageLength, `short_message ${problem}`));
    try {
      const written = await keep(known, request, text, correlationId, (message) => {
        message.statusCallback = statusCallbackOf(request.wish, bind.account.id, []);
      });
      count(arrived, 201, undefined, `/sms/v1/messages/${written.id}`);
      return { status: statuses.ok, messageId: written.id };
    } catch (error) {
      bind.refused++;
      return { status: failed(arrived, error), messageId: '' };
    }
  }

  /** Commits a text as the SMS API does. */
  async function keep(
    { caller }: KnownCaller,
    request: SubmitRequest,
    text: string,
    correlationId: string,
    prepare: (message: Message) => void,
  ): Promise<Message> {
    const { applicationId, rights } = caller;
    const spender = { applicationId, segmentsPerDay: rights.segmentsPerDay };
    const context = { applicationId, rights, api: caller.api, correlationId };
    const message = messages.prepare(toSendRequest(request, text), context);
    if (!isMessage(message)) throw await messages.refusalOf(message, spender);
    prepare(message);
    const [outcome = message] = await messages.accept(spender, [message], nothing);
    if (!isMessage(outcome)) throw outcome;
    return outcome;
  }

  async function takePart(arrived: Arrived, request: SubmitRequest): Promise<SubmitAnswer> {
    const { bind, known, correlationId } = arrived;
    try {
      const made = await addPart({ account: bind.account, known, request, correlationId });
      if (isRefusal(made)) return refusedBy(arrived, made);
      count(arrived, 201, undefined);
      return made;
    } catch (error) {
      bind.refused++;
      return { status: failed(arrived, error), messageId: '' };
    }
  }

  /** A request about a text, which counts as a read by HTTP does. */
  function ask<Answer>(
    bind: Bind,
    command: string,
    refused: (status: number) => Answer,
    work: (known: KnownCaller) => Promise<Answer>,
  ): Promise<Answer> {
    const answered = async (arrived: Arrived) => {
      try {
        const answer = await work(arrived.known);
        count(arrived, 200, undefined);
        return answer;
      } catch (error) {
        return refused(failed(arrived, error));
      }
    };
    return Promise.resolve(admit<Answer>(bind, command, refused, answered));
  }

  return { submit, ask, keep };
}

export type Submits = ReturnType<typeof createSubmits>;

function refusedWith(status: number): SubmitAnswer {
  return status === statuses.throttled ? throttled : { status, messageId: '' };
}

export function refusedQuery(status: number): QueryAnswer {
  return { status, finalDate: '', messageState: 0, errorCode: 0 };
}

export function toSendRequest(request: SubmitRequest, text: string) {
  const { to, from, reference, validitySeconds, sendAtMs, priority } = request;
  return {
    ...{ to, from, message: text, channel: 'sms' as const, reference, validity_seconds: validitySeconds, priority },
    send_at: sendAtMs === null ? null : new Date(sendAtMs).toISOString(),
    smart_encoding: false,
  };
}

/** The command_status of an error that HTTP answers with its status. */
export function statusOf(error: ApiError): number {
  switch (error.code) {
    case 'UNROUTABLE_DESTINATION':
      return statuses.invalidDestination;
    case 'INVALID_ARGUMENT':
      return error.details[0]?.field === 'from' ? statuses.invalidSource : statuses.submitFailed;
    case 'SPEND_LIMIT':
      return statuses.submitFailed;
    case 'NOT_FOUND':
      return statuses.invalidMessageId;
    case 'INCOMPATIBLE_STATE':
      return statuses.cancelFailed;
    default:
      return statuses.systemError;
  }
}
