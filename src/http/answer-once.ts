import type { Idempotency, KeptAnswer } from '../platform/idempotency.ts';
import { type Call, type Reply, requireApplication } from './route.ts';

/** Does a request once per Idempotency-Key, and answers it in the very bytes that were kept. */
export async function answerOnce(
  idempotency: Idempotency,
  call: Call,
  work: Parameters<Idempotency['once']>[1],
): Promise<Reply> {
  const { applicationId } = requireApplication(call);
  const { idempotencyKey: key, method, path, body: payload, correlationId } = call;
  const answer: KeptAnswer & { replayed: boolean } = await idempotency.once(
    { key, applicationId, method, path, payload, correlationId },
    work,
  );
  return {
    status: answer.status,
    content: { type: 'application/json', data: answer.body },
    ...(answer.location !== null && { location: answer.location }),
    ...(answer.replayed && { headers: { 'Idempotency-Replayed': 'true' } }),
  };
}
