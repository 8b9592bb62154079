import type { CallAnswer } from '../../platform/http-out/client.ts';
import type { EndedSpan, SpanAttributes } from '../../platform/tracing/span.ts';
import type { SpanIds } from '../../platform/tracing/trace-context.ts';
import type { StatusCall } from './call.ts';

/** The span of a call. Like that of a webhook it says nothing of the address. */
export function toSpan(
  ids: SpanIds,
  call: StatusCall,
  { statusCode, error }: CallAnswer,
  times: Pick<EndedSpan, 'startMs' | 'endMs'>,
): EndedSpan {
  const attributes: SpanAttributes = {
    'heliograph.application_id': call.applicationId,
    'heliograph.message_id': call.messageId,
    'heliograph.status': call.status,
    'heliograph.attempt': call.attempts,
    'http.request.method': 'POST',
    'http.response.status_code': statusCode ?? undefined,
    'error.type': statusCode === null ? 'unanswered' : undefined,
  };
  return { ids, name: 'callback', kind: 'client', ...times, attributes, failed: error !== null };
}
