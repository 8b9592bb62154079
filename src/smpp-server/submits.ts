// Tests: test/smpp-server/submit.test.ts
import type { CountedRequest, KnownCaller, LimitDecision } from '../http/admission.ts';
import { SampledRequest } from '../http/request-spans.ts';
import type { RequestTrace } from '../http/route.ts';
import { isMessage, type SendOutcome } from '../messages/acceptance.ts';
import type { Message } from '../messages/message.ts';
import type { MessageService, SendRequest } from '../messages/message-service.ts';
import type { Spender } from '../messages/spend.ts';
import { measure, textProblem } from '../messages/text/text.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import { type SubmitPdu, statuses } from '../smpp/pdu.ts';
import type { KnownAccount, SmppAccount } from './account.ts';
import type { Bind } from './bind.ts';
import type { AnswerSubmit, PartAnswer, QueryAnswer } from './requests.ts';
import { statusCallbackOf } from './status-callback.ts';
import { isRefusal, type Refusal, readSubmit, refuse, type SubmitRequest, textOf } from './submit-fields.ts';

export interface Limiter {
  decide(known: KnownCaller): LimitDecision | Promise<LimitDecision>;
  /** Returns the slot of an admitted request that was not served. */
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
  /** A request was refused: this is shown to the developer. */
  onRefused: (bind: Bind, command: string, refusal: Refusal) => void;
  /** Adds a part of a long text. */
  addPart: (part: PartToAdd) => Promise<PartAnswer | Refusal>;
  /** Undefined unless requests are traced. */
  tracer: Tracer | undefined;
}

export interface PartToAdd {
  account: SmppAccount;
  known: KnownCaller;
  request: SubmitRequest;
  correlationId: string;
  /** The text has the trace of its last part. */
  trace: RequestTrace | undefined;
}

/** One request of a bind: what it costs, who asks, when it began. */
interface Arrived {
  bind: Bind;
  known: KnownCaller;
  decision: LimitDecision;
  command: string;
  correlationId: string;
  startedMs: number;
  /** Undefined unless it is sampled. */
  trace: SampledRequest | undefined;
}

/** A text that waits for the commit of its turn. */
interface TextToSend {
  arrived: Arrived;
  message: Message;
  sequence: number;
  answer: AnswerSubmit;
}

const nothing = () => undefined;
/** Texts of one caller that are written or refused together, as many as a batch by HTTP has. */
const mostTogether = 100;

/**
 * Takes submits: each is a send of the SMS API, decided by the same limits and written by the same commit. Submits that
 * are read in one turn of the event loop are one item of that commit, as a batch by HTTP is.
 */
export function createSubmits(options: SubmitsOptions) {
  const { clock, log, environment, messages, find, limiter, onCounted, onRefused, addPart, tracer } = options;
  let gathered = new Map<KnownCaller, TextToSend[]>();

  /** Finds the account and lets the limits decide, without a promise where neither needs one. */
  function admit(
    bind: Bind,
    command: string,
    refused: (status: number) => void,
    work: (arrived: Arrived) => void,
  ): void {
    const startedMs = clock.steadyMs();
    const fail = (error: unknown) => refused(statusOfError(error, command));
    const decided = (known: KnownCaller, decision: LimitDecision) => {
      const trace = tracer === undefined ? undefined : sample(tracer, known, startedMs);
      const arrived = { bind, known, decision, command, correlationId: newId('req', clock), startedMs, trace };
      if (decision.admitted) {
        trace?.beginService();
        return work(arrived);
      }
      bind.throttled++;
      count(arrived, 429, limiter.refusalOf(decision));
      refused(statuses.throttled);
    };
    const found = (account: KnownAccount | null) => {
      if (account === null) return refused(statuses.bindFailed);
      const decision = limiter.decide(account.known);
      if (decision instanceof Promise) decision.then((made) => decided(account.known, made)).catch(fail);
      else decided(account.known, decision);
    };
    const account = find(bind);
    if (account instanceof Promise) account.then(found).catch(fail);
    else found(account);
  }

  function sample(by: Tracer, { caller }: KnownCaller, startedMs: number): SampledRequest | undefined {
    // A PDU has no `traceparent`.
    const ids = by.enter(undefined, caller.applicationId);
    return ids && new SampledRequest(by, clock, startedMs, ids);
  }

  function count(arrived: Arrived, status: number, refusal: ApiError | undefined, location?: string): void {
    const { known, decision, command, correlationId, startedMs, trace } = arrived;
    const { caller } = known;
    trace?.finish(`SMPP ${command}`, { status, refusal, correlationId, caller });
    onCounted({
      caller,
      correlationId,
      decision,
      method: 'SMPP',
      path: command,
      status,
      isUnserved: status === 503,
      refusal,
      outcome: undefined,
      durationMs: clock.steadyMs() - startedMs,
      id: undefined,
      location,
      traceId: trace?.traceId,
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

  function refusedBy(arrived: Arrived, refusal: Refusal): number {
    arrived.bind.refused++;
    count(arrived, 400, new ApiError('INVALID_ARGUMENT', refusal.why));
    onRefused(arrived.bind, arrived.command, refusal);
    return refusal.status;
  }

  /** Calls `answer` once, now or later. */
  function submit(bind: Bind, pdu: SubmitPdu, answer: AnswerSubmit): void {
    bind.submits++;
    admit(
      bind,
      'submit_sm',
      (status) => answer(pdu.sequence, status, ''),
      (arrived) => take(arrived, pdu, answer),
    );
  }

  function take(arrived: Arrived, pdu: SubmitPdu, answer: AnswerSubmit): void {
    const { highPriority } = arrived.known.caller;
    const request = readSubmit(pdu, { nowMs: clock.nowMs(), environment, highPriority });
    if (isRefusal(request)) answer(pdu.sequence, refusedBy(arrived, request), '');
    else if (request.part === null) send(arrived, request, pdu.sequence, answer);
    else void takePart(arrived, request, pdu.sequence, answer);
  }

  function send(arrived: Arrived, request: SubmitRequest, sequence: number, answer: AnswerSubmit): void {
    const text = textOf(request);
    const segments = measure(text);
    const problem = textProblem(text, segments);
    if (problem !== undefined) {
      answer(sequence, refusedBy(arrived, refuse(statuses.invalidMessageLength, `short_message ${problem}`)), '');
      return;
    }
    const { known, correlationId, bind, trace } = arrived;
    const { applicationId, rights, api } = known.caller;
    const refused = (error: unknown) => refuseText(arrived, error, sequence, answer);
    try {
      const context = { applicationId, rights, api, correlationId, trace };
      const message = messages.prepare(toSendRequest(request, text), context, segments);
      if (!isMessage(message)) {
        messages.refusalOf(message, spenderOf(known)).then(refused, refused);
        return;
      }
      message.statusCallback = statusCallbackOf(request.wish, bind.account.id, []);
      gather({ arrived, message, sequence, answer });
    } catch (error) {
      refused(error);
    }
  }

  function refuseText(arrived: Arrived, error: unknown, sequence: number, answer: AnswerSubmit): void {
    arrived.bind.refused++;
    answer(sequence, failed(arrived, error), '');
  }

  function gather(text: TextToSend): void {
    const { known } = text.arrived;
    // Runs once all PDUs in the octets that were read are taken.
    if (gathered.size === 0) queueMicrotask(sendGathered);
    const texts = gathered.get(known);
    if (texts === undefined) gathered.set(known, [text]);
    else texts.push(text);
  }

  function sendGathered(): void {
    const sending = gathered;
    gathered = new Map();
    for (const [known, texts] of sending)
      for (let from = 0; from < texts.length; from += mostTogether)
        void sendTogether(known, texts.slice(from, from + mostTogether));
  }

  /** Commits texts as the SMS API does. */
  async function sendTogether(known: KnownCaller, texts: TextToSend[]): Promise<void> {
    const sinceMs = tracer === undefined ? 0 : clock.steadyMs();
    let outcomes: SendOutcome[];
    try {
      outcomes = await messages.accept(
        spenderOf(known),
        texts.map(({ message }) => message),
        nothing,
      );
    } catch (error) {
      for (const { arrived, sequence, answer } of texts) refuseText(arrived, error, sequence, answer);
      return;
    }
    texts.forEach(({ arrived, message, sequence, answer }, place) => {
      const outcome = outcomes[place] ?? message;
      arrived.trace?.note('batch', sinceMs, { 'heliograph.texts': texts.length });
      if (!isMessage(outcome)) {
        refuseText(arrived, outcome, sequence, answer);
        return;
      }
      count(arrived, 201, undefined, `/sms/v1/messages/${outcome.id}`);
      answer(sequence, statuses.ok, outcome.id);
    });
  }

  async function takePart(
    arrived: Arrived,
    request: SubmitRequest,
    sequence: number,
    answer: AnswerSubmit,
  ): Promise<void> {
    const { bind, known, correlationId, trace } = arrived;
    try {
      const made = await addPart({ account: bind.account, known, request, correlationId, trace });
      if (isRefusal(made)) {
        answer(sequence, refusedBy(arrived, made), '');
        return;
      }
      count(arrived, 201, undefined);
      answer(sequence, statuses.ok, made.messageId);
    } catch (error) {
      refuseText(arrived, error, sequence, answer);
    }
  }

  /** A request about a text, which counts as a read by HTTP does. */
  function ask<Answer>(
    bind: Bind,
    command: string,
    refused: (status: number) => Answer,
    work: (known: KnownCaller) => Promise<Answer>,
  ): Promise<Answer> {
    return new Promise((resolve) => {
      admit(
        bind,
        command,
        (status) => resolve(refused(status)),
        (arrived) =>
          work(arrived.known).then(
            (answer) => {
              count(arrived, 200, undefined);
              resolve(answer);
            },
            (error: unknown) => resolve(refused(failed(arrived, error))),
          ),
      );
    });
  }

  return { submit, ask };
}

export type Submits = ReturnType<typeof createSubmits>;

function spenderOf({ caller }: KnownCaller): Spender {
  return { applicationId: caller.applicationId, segmentsPerDay: caller.rights.segmentsPerDay };
}

export function refusedQuery(status: number): QueryAnswer {
  return { status, finalDate: '', messageState: 0, errorCode: 0 };
}

/** Written field by field: to copy them with `...` would take as long as all the rest of a submit. */
export function toSendRequest(request: SubmitRequest, text: string): SendRequest {
  const { sendAtMs } = request;
  return {
    to: request.to,
    from: request.from,
    message: text,
    channel: 'sms',
    reference: request.reference,
    validity_seconds: request.validitySeconds,
    send_at: sendAtMs === null ? null : new Date(sendAtMs).toISOString(),
    smart_encoding: false,
    priority: request.priority,
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
