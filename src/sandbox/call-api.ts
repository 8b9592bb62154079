// Tests: test/contract/calls.test.ts
import { Type } from 'typebox';
import { pathParameter } from '../http/list-page.ts';
import { type Auth, type Call, type Route, route } from '../http/route.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { type CallAction, callActions, type VirtualCalls } from './calls.ts';

export interface CallRoutesOptions {
  calls: VirtualCalls;
  /** The application of the caller; a developer names it. */
  applicationOf: (call: Call, given: string | undefined) => Promise<string>;
}

const auth: Auth[] = [{ kind: 'apikey' }, { kind: 'bearer', scope: undefined }, { kind: 'developer' }];
const states = { ring: 'ringing', answer: 'answered', decline: 'declined' } as const;

/** What a person at a virtual handset does with a call that rings. */
export function createCallRoutes({ calls, applicationOf }: CallRoutesOptions): Route[] {
  return [
    route({
      method: 'POST',
      path: '/sandbox/v1/inbox/calls/{message_id}',
      auth,
      tag: 'Sandbox',
      limitedBy: 'address',
      operationId: 'actOnCall',
      summary: 'Answer or decline a call on a virtual handset',
      description:
        'A call is answered by itself after 3 seconds. With `ring` it goes on for 20 seconds in all, and is not answered ' +
        'unless `answer` follows; `decline` makes it busy.',
      params: Type.Object({ message_id: pathParameter }),
      body: Type.Object(
        {
          application_id: Type.Optional(Type.String({ maxLength: 256, description: 'Required with a portal session' })),
          action: Type.Unsafe<CallAction>({
            type: 'string',
            enum: [...callActions],
            expected: 'ring, answer or decline',
          }),
        },
        { title: 'CallAction' },
      ),
      answers: {
        200: {
          description: 'The outcome of the call',
          schema: Type.Object(
            {
              message_id: Type.String(),
              state: Type.Unsafe<string>({ type: 'string', enum: Object.values(states) }),
            },
            { title: 'ActedCall' },
          ),
        },
      },
      refuses: { NOT_FOUND: 'The application has no such call', INCOMPATIBLE_STATE: 'The call no longer rings' },
      handler: async (call) => {
        const applicationId = await applicationOf(call, call.body.application_id);
        const { message_id } = call.params;
        const { action } = call.body;
        const acted = await calls.act(applicationId, message_id, action);
        if (acted === 'unknown') throw notFound();
        if (acted === 'over') throw new ApiError('INCOMPATIBLE_STATE', 'The call no longer rings.');
        return { status: 200, body: { message_id, state: states[action] } };
      },
    }),
  ];
}
