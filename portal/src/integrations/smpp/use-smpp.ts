import { applicationPath } from '../../api/call.ts';
import type { SmppAccount } from '../../api/types.ts';
import { type LoadedList, useList } from '../../session/use-load.ts';

const refreshMs = 5000;

export const smppPath = (applicationId: string) => applicationPath(applicationId, '/smpp-accounts');

/** The accounts with their binds, live. */
export const useSmppAccounts = (applicationId: string): LoadedList<SmppAccount> =>
  useList<SmppAccount>(smppPath(applicationId), refreshMs);
