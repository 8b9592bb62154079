// Tests: test/contract/portal-try.test.ts
import { Type } from 'typebox';
import { pathParameter } from '../../http/list-page.ts';
import type { Api, Route } from '../../http/route.ts';

/** The path prefix of calls that the portal sends for Try it. `sentFrom` recognises their traces by it. */
export const tryBase = '/portal/v1/applications/{application_id}/try';

/** The operations that the portal's forms call, and their names here. */
const tried: Record<string, { operationId: string; api: Api }> = {
  sendSms: { operationId: 'trySendSms', api: 'sms' },
  sendMessage: { operationId: 'trySendMessage', api: 'messaging' },
  startVerification: { operationId: 'tryStartVerification', api: 'verify' },
  checkVerification: { operationId: 'tryCheckVerification', api: 'verify' },
};

/**
 * The same operations, called by a developer's session instead of a credential of the application: same body, answer, limits
 * and metering. The rules stay in the APIs.
 */
export function createTryRoutes(apis: readonly Route[]): Route[] {
  return apis.flatMap((called): Route[] => {
    const found = tried[called.operationId ?? ''];
    if (found === undefined) return [];
    return [
      {
        ...called,
        path: `${tryBase}${called.path}`,
        auth: { kind: 'try', api: found.api },
        operationId: found.operationId,
        tag: 'Developer portal: applications',
        description: `For the page Try it: what \`${called.method} ${called.path}\` does, by the session. It counts against the limits of the registration.`,
        params: Type.Object({ application_id: pathParameter, ...called.params?.properties }),
        refuses: { ...called.refuses, INCOMPATIBLE_STATE: 'The application has no approved registration for this API' },
      },
    ];
  });
}

export type SentFrom = 'api' | 'portal';

/** From where a traced call was sent, by its path. */
export function sentFrom(path: string | null): SentFrom {
  return path?.startsWith(tryBase) === true ? 'portal' : 'api';
}

/** The path of the API that was called, also if the portal called it. */
export function calledPath(path: string | null): string | null {
  return path?.startsWith(tryBase) === true ? path.slice(tryBase.length) : path;
}
