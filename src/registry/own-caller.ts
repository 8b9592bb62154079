// Tests: test/contract/portal-try.test.ts
import type { KnownCaller } from '../http/admission.ts';
import type { Api } from '../http/route.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { callerOf, type Directory } from './directory.ts';

/** Finds an application of an account as the caller of an API, for calls that its developer makes in the portal. */
export function createFindOwnCaller(directory: Pick<Directory, 'readOwn'>) {
  return async (accountId: string, applicationId: string, api: Api): Promise<KnownCaller> => {
    const application = isId('app', applicationId) ? await directory.readOwn(accountId, applicationId) : undefined;
    if (application === undefined) throw notFound();
    const caller = callerOf(application, api, undefined);
    if (caller === null)
      throw new ApiError('INCOMPATIBLE_STATE', 'The application has no approved registration for this API.');
    return caller;
  };
}
