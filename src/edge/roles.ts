import { type Auth, type Developer, type Role, roles } from '../http/route.ts';
import { ApiError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';

/** The ways in which routes of the portal are protected. */
export type PortalAuth = Extract<Auth, { kind: 'visitor' | 'person' | 'developer' | 'try' | 'operator' }>;

/** Whether the person may call the route: a refusal, or undefined. */
export function refuseRole(
  auth: PortalAuth,
  method: string,
  { role, secondFactor }: Developer,
  { operatorsNeedSecondFactor }: { operatorsNeedSecondFactor: boolean },
): ApiError | undefined {
  if (auth.kind === 'operator') {
    if (secondFactor || !operatorsNeedSecondFactor) return undefined;
    return denied(
      'This service requires a second factor of operators. ' +
        `Make a link on the machine (${toRun('operator', 'your@email')}), use it, ` +
        'and set one up on your account page within 15 minutes.',
    );
  }
  if (auth.kind !== 'developer' && auth.kind !== 'try') return undefined;
  const given = auth.kind === 'developer' ? auth.role : undefined;
  const needed = given ?? (isReading(method) ? 'viewer' : 'developer');
  if (rankOf(role) >= rankOf(needed)) return undefined;
  return denied(`Your role in this account is ${role}. This needs the role ${needed}: ask an owner of the account.`);
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function rankOf(role: Role): number {
  return roles.indexOf(role);
}

function denied(message: string): ApiError {
  return new ApiError('PERMISSION_DENIED', message);
}
