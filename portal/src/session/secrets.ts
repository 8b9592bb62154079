import { useCallback } from 'react';
import type { Credential } from '../api/types.ts';
import { readPageState, type Update, usePageState, writePageState } from './page-state.ts';

export interface Secrets {
  apiKey: string;
  clientId: string;
  clientSecret: string;
}

const none: Secrets = { apiKey: '', clientId: '', clientSecret: '' };
const latest = 'latest-secrets';

/** The secrets of an application that were shown or pasted since the page loaded. */
export function useSecrets(applicationId: string): [Secrets, Update<Secrets>] {
  const [secrets, update] = usePageState(`secrets-${applicationId}`, none);
  const updateBoth = useCallback<Update<Secrets>>(
    (change) =>
      update((before) => {
        const next = change(before);
        writePageState(latest, next);
        return next;
      }),
    [update],
  );
  return [secrets, updateBoth];
}

/** The secrets of the application used last, for the samples of the reference. */
export function latestSecrets(): Secrets {
  return readPageState(latest, none);
}

export function withCredential(credential: Credential): (secrets: Secrets) => Secrets {
  const shown =
    credential.type === 'api_key'
      ? { apiKey: credential.api_key }
      : { clientId: credential.client_id, clientSecret: credential.client_secret };
  return (secrets) => ({ ...secrets, ...shown });
}
