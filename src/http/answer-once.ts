import type { Idempotency, KeptAnswer } from '../platform/database/idempotency.ts';
import { type Call, type Reply, requireApplication } from './route.ts';

/** Runs a request once per Idempotency-Key and replays the stored bytes. Without a key it stores nothing. */
export function answerOnce(
  idempotency: Idempotency,
  call: Call,
  work: Parameters<Idempotency['once']>[1],
): Promise<Reply> {
  const { idempotencyKey: key, method, path, body: payload, correlationId } = call;
  if (key === undefined) return work(keepNothing).then(toReply);
  const { applicationId } = requireApplication(call);
  return idempotency.once({ key, applicationId, method, path, payload, correlationId }, work).then(toReply);
}

function keepNothing(): undefined {
  return undefined;
}

function toReply(answer: KeptAnswer & { replayed?: boolean }): Reply {
  const reply: Reply = { status: answer.status, content: { type: 'application/json', data: answer.body } };
  if (answer.location !== null) reply.location = answer.location;
  if (answer.replayed === true) reply.headers = { 'Idempotency-Replayed': 'true' };
  return reply;
}
