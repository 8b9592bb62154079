import type { CountedRequest } from '../http/admission.ts';
import type { Cell } from '../platform/database/text-rows.ts';
import type { ApiError } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';

/**
 * The row of a trace, in the order of `insertTraces`: what was decided and why. It contains nothing that the caller
 * wrote, except our own ids.
 */
export function traceRow(request: CountedRequest): Cell[] {
  const { caller, decision, refusal, location } = request;
  const id = request.id !== undefined && isRecordId(request.id) ? request.id : undefined;
  const recordId = location === undefined ? id : location.slice(location.lastIndexOf('/') + 1);
  return [
    request.correlationId,
    caller.applicationId,
    caller.api,
    request.method,
    request.path?.replace('{id}', id ?? '{id}') ?? null,
    request.status,
    refusal === undefined || refusal.status === 429 ? null : refusal.code,
    refusal === undefined ? (request.outcome ?? null) : fit(refusal.message),
    detailsOf(refusal),
    Math.round(request.durationMs * 10) / 10,
    decision.admitted,
    decision.limits.perMinute,
    decision.remaining,
    decision.admitted ? null : Math.ceil(decision.retryAfterMs / 1000),
    decision.admitted ? null : (decision.refusedBy ?? null),
    recordId ?? null,
    request.traceId ?? null,
  ];
}

/** Field names may come from the caller too, so they are masked like messages. */
function detailsOf(refusal: ApiError | undefined): string {
  const details = refusal?.details ?? [];
  return JSON.stringify(details.map(({ field, message }) => ({ field: fit(field), message: fit(message) })));
}

/** The example number in our own error messages. */
const exampleNumber = '447700900123';

/** Masks numbers, because a message may quote the refused one. Replaces what Postgres cannot store. */
function fit(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
    .replaceAll(/\d{7,}/g, (digits) => (digits === exampleNumber ? digits : '•'.repeat(digits.length)));
}

function isRecordId(text: string): boolean {
  return isId('msg', text) || isId('ver', text);
}
