// Tests: test/providers/presets.test.ts
import { Type } from 'typebox';
import { pathParameter } from '../../../http/list-page.ts';
import { pathOf } from '../../../http/request/target.ts';
import { type Call, type Reply, type Route, route } from '../../../http/route.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Callbacks } from './callbacks.ts';
import type { CallbackRequest } from './request.ts';
import { callbackPath } from './token.ts';

export interface CallbackRoutesOptions {
  callbacks: Callbacks;
  publicUrl: string;
}

/** Meta reports up to 1,000 messages at once. */
const longestBody = 1024 * 1024;
const params = Type.Object({ name: pathParameter, token: pathParameter });

/** Where providers report receipts and inbound texts. */
export function createCallbackRoutes({ callbacks, publicUrl }: CallbackRoutesOptions): Route[] {
  function requestOf({ method, raw }: Call): CallbackRequest {
    if (raw === undefined) throw notFound();
    const { target, headers, body } = raw;
    const path = pathOf(target);
    const query = target.indexOf('?');
    // Our own address as the provider knows it: the Host header is the caller's to choose.
    return { method, url: `${publicUrl}${path}${query === -1 ? '' : target.slice(query)}`, headers, body };
  }

  const take =
    (kind: keyof Callbacks) =>
    async (call: Call<{ name: string; token: string }>): Promise<Reply> => {
      const answer = await callbacks[kind](call.params.name, call.params.token, requestOf(call));
      return answer === undefined
        ? { status: 200 }
        : { status: 200, content: { type: answer.type, data: answer.body } };
    };

  const summaries = {
    receipts: 'Take delivery receipts from a provider',
    inbound: 'Take inbound texts from a provider',
  };
  return (['receipts', 'inbound'] as const).flatMap((kind) =>
    (['POST', 'GET'] as const).map((method) =>
      route({
        method,
        path: `${callbackPath}/{name}/${kind}/{token}`,
        auth: { kind: 'callback' },
        tag: 'Carriers: callbacks',
        operationId: `take${kind === 'receipts' ? 'Receipts' : 'Inbound'}${method === 'GET' ? 'ByGet' : ''}`,
        summary: summaries[kind],
        description:
          'For providers only. The operator finds the address, with its token, in the record of the carrier. ' +
          'A wrong proof gets a 401. The service answers 200 when everything is on disk.',
        params,
        consumes: 'raw',
        ...(kind === 'receipts' && { longestBody }),
        answers: { 200: { description: 'Taken' } },
        refuses: {
          INVALID_ARGUMENT: 'The callback cannot be read',
          UNAUTHENTICATED: 'The proof of the provider is missing, wrong or too old',
          NOT_FOUND: 'There is no carrier of this name with this token',
        },
        handler: take(kind),
      }),
    ),
  );
}
