// Tests: test/hooks/servers.test.ts, test/hooks/calls.test.ts
import { Type } from 'typebox';
import { pathParameter } from '../http/list-page.ts';
import { type Route, route } from '../http/route.ts';
import { longestPayload } from './hook.ts';
import type { HookReceiver } from './receive.ts';

export const hooksPath = '/hooks/v1';

/** The routes to which identity servers post the codes that they made. */
export function createHookRoutes({ receive }: HookReceiver): Route[] {
  return [
    route({
      method: 'POST',
      path: `${hooksPath}/{kind}/{hook_id}`,
      auth: { kind: 'hook' },
      tag: 'Hooks of identity servers',
      operationId: 'takeHookCall',
      summary: 'Take a code from an identity server and send it',
      description:
        "Takes the server's own payload with its own proof, and answers in the form that it expects. Create hooks in the portal.",
      params: Type.Object({ kind: pathParameter, hook_id: pathParameter }),
      consumes: 'raw',
      longestBody: longestPayload,
      answers: { 200: { description: 'Taken; for Supabase also a refusal, as {"error": {"http_code", "message"}}' } },
      refuses: {
        INVALID_ARGUMENT: 'The payload is not one of the server',
        UNAUTHENTICATED: 'The proof is missing, wrong or too old',
        SPEND_LIMIT: "The application's segments of the day are used up",
        PERMISSION_DENIED: 'The guard blocked the number, or the application is not registered',
        NOT_FOUND: 'There is no such hook',
        UNROUTABLE_DESTINATION: 'No route leads to the number',
      },
      handler: async (call) => {
        const { raw, charge, params } = call;
        if (raw === undefined || charge === undefined) throw new Error('this route is not a hook');
        const { headers, body } = raw;
        return receive({ kind: params.kind, hookId: params.hook_id, headers, body, origin: call, charge });
      },
    }),
  ];
}
