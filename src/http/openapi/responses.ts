import { ApiError, type ErrorCode } from '../../platform/errors.ts';
import type { Route } from '../route.ts';
import { exampleId } from './field-examples.ts';
import { headersOfRefusal } from './headers.ts';
import { exampleOfRefusal, type Refusal, refusalsOf } from './refusals.ts';

/** The responses for refusals. Those that several routes share are named once in the document. */
export interface Responses {
  /** A route's responses for refusals by status, with `default`; without statuses that the route describes itself. */
  of(route: Route): Record<string, object>;
  named(): Record<string, object>;
  examples(): Record<string, object>;
}

export function createResponses(): Responses {
  const named = new Map<string, object>();
  /** The name of each response, by its JSON. */
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const examples = new Map<string, object>();

  function responseOf(route: Route, status: number, refusals: Refusal[], description: string): object {
    const { title, prefix, exampleOf } = formatOf(route, status);
    const shown = refusals.map(({ code }) => {
      const name = prefix + nameOf(status, code);
      examples.set(name, { summary: nameOf(status, code), value: exampleOf(code) });
      return [nameOf(status, code), { $ref: `#/components/examples/${name}` }];
    });
    const content = { schema: { $ref: `#/components/schemas/${title}|answer` }, examples: Object.fromEntries(shown) };
    return { description, headers: headersOfRefusal(route, status), content: { 'application/json': content } };
  }

  /** Equal responses share a name: their codes, with a number if another response has the same codes. */
  function refer(codes: string, response: object): object {
    const text = JSON.stringify(response);
    const used = counts.get(codes) ?? 0;
    const name = names.get(text) ?? (used === 0 ? codes : `${codes}${used + 1}`);
    if (!names.has(text)) {
      names.set(text, name);
      named.set(name, response);
      counts.set(codes, used + 1);
    }
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    of(route) {
      const all: Record<string, object> = {};
      for (const [status, refusals] of refusalsOf(route)) {
        if (status in route.answers) continue;
        const description = refusals.map((each) => describe(status, each)).join(' ');
        const codes = refusals.map(({ code }) => pascal(code)).join('Or');
        const response = responseOf(route, status, refusals, description);
        all[status] = refusals.some(({ declared }) => declared) ? response : refer(codes, response);
      }
      const unexpected: Refusal[] = [{ code: 'INTERNAL', when: '', declared: false }];
      const description = 'Any other error: the service failed, or the request is not one that HTTP allows.';
      all.default = refer('Unexpected', responseOf(route, 500, unexpected, description));
      return all;
    },
    named: () => Object.fromEntries(named),
    examples: () => Object.fromEntries(examples),
  };
}

/** The schema of a refusal, its example for a code, and how that example's name begins. */
function formatOf({ errors }: Route, status: number) {
  if (errors === undefined || status === 429) {
    const title = status === 429 ? 'Limited' : 'Error';
    return { title, prefix: '', exampleOf: (code: ErrorCode) => bodyOf(status, code) };
  }
  if (errors === 'oauth')
    return { title: 'OAuthError', prefix: 'oauth_', exampleOf: (code: ErrorCode) => oauthBody(status, code) };
  const exampleOf = (code: ErrorCode) => {
    const { message, details } = exampleOfRefusal(code);
    return errors.bodyOf(new ApiError(code, message, { details }));
  };
  return { title: errors.title, prefix: `${errors.title}_`, exampleOf };
}

/** The name of a response or example: a 429 has no code. */
function nameOf(status: number, code: ErrorCode): string {
  return status === 429 ? 'Limited' : code;
}

function describe(status: number, { code, when }: Refusal): string {
  return status === 429 ? `${when}. The body has a message and no code.` : `\`${code}\`: ${when}.`;
}

function bodyOf(status: number, code: ErrorCode): object {
  const { message, details } = exampleOfRefusal(code);
  return status === 429 ? { message } : { message, code, correlation_id: exampleId('req'), details };
}

/** The body that `error-reply.ts` writes for these routes. */
function oauthBody(status: number, code: ErrorCode): object {
  const error = status === 503 ? 'temporarily_unavailable' : status >= 500 ? 'server_error' : 'invalid_request';
  return { error, error_description: exampleOfRefusal(code).message };
}

/** `NOT_FOUND` becomes `NotFound`. */
function pascal(code: string): string {
  return code
    .toLowerCase()
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}
