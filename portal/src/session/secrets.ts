import type { Credential } from '../api/types.ts';
import { type Update, usePageState } from './page-state.ts';

export interface Secrets {
  apiKey: string;
  clientSecret: string;
}

const none: Secrets = { apiKey: '', clientSecret: '' };

/** The secrets of an application that were shown or pasted since the page loaded. */
export function useSecrets(applicationId: string): [Secrets, Update<Secrets>] {
  return usePageState(`secrets of ${applicationId}`, none);
}

export function withCredential(credential: Credential): (secrets: Secrets) => Secrets {
  const shown =
    credential.type === 'api_key' ? { apiKey: credential.api_key } : { clientSecret: credential.client_secret };
  return (secrets) => ({ ...secrets, ...shown });
}
