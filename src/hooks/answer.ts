import { wholeSeconds } from '../http/head.ts';
import type { Reply } from '../http/route.ts';
import type { ApiError } from '../platform/errors.ts';
import type { AnswerForm } from './kinds.ts';

/** The answer to a call that was taken. */
export const taken: Reply = { status: 200, body: {} };

/**
 * A refusal in the form that the server expects. Undefined for the usual form. Supabase repeats a 429 or 503 at once and
 * shows a 400 as its own 500, so it gets a 200 that names the status. authentik shows the body to the person.
 */
export function refusalFor(form: AnswerForm, refusal: ApiError, retryAfterMs: number | undefined): Reply | undefined {
  const { status, message } = refusal;
  const waitMs = retryAfterMs ?? refusal.retryAfterMs;
  const wait = waitMs === undefined ? {} : { retryAfterSeconds: wholeSeconds(waitMs) };
  switch (form) {
    case 'supabase':
      return { status: 200, body: { error: { http_code: status, message } }, ...wait };
    case 'text':
      // A 429 has the same body as every other 429.
      return status === 429
        ? undefined
        : { status, content: { type: 'text/plain; charset=utf-8', data: message }, headers: refusal.headers, ...wait };
    case 'json':
      return undefined;
  }
}
