import type { Answered } from '../http/gate.ts';
import { isId } from '../platform/ids.ts';
import type { RequestTrace } from './metering-store.ts';

/** What is kept of a request: what was decided and why, and nothing that the caller wrote but ids of ours. */
export function toTrace(answered: Answered): RequestTrace {
  const { caller, decision, refusal, path, id, location } = answered;
  const aboutId = id !== undefined && isRecordId(id) ? id : null;
  return {
    id: answered.correlationId,
    applicationId: caller.applicationId,
    api: caller.api,
    method: answered.method,
    path: path === undefined ? null : path.replace('{id}', aboutId ?? '{id}'),
    status: answered.status,
    code: refusal === undefined || refusal.status === 429 ? null : refusal.code,
    message: refusal?.message ?? null,
    details: refusal?.details ?? [],
    durationMs: Math.round(answered.durationMs * 10) / 10,
    admitted: decision.admitted,
    limitPerMinute: decision.limits.perMinute,
    remaining: decision.remaining,
    retryAfterSeconds: decision.admitted ? null : Math.ceil(decision.retryAfterMs / 1000),
    refusedBy: decision.refusedBy ?? null,
    recordId: location === undefined ? aboutId : location.slice(location.lastIndexOf('/') + 1),
  };
}

function isRecordId(text: string): boolean {
  return isId('msg', text) || isId('ver', text);
}
