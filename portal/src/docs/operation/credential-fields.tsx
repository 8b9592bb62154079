import { PasswordInput, TextInput } from '@mantine/core';
import { words } from '../../words/docs.tsx';
import { useCredentials } from '../credentials.ts';
import type { CredentialKind } from '../model/operations.ts';

/** Fields for the credential of this call. Samples and try-it use it. */
export function CredentialFields({ kind }: { kind: CredentialKind | undefined }) {
  const [credentials, set] = useCredentials();
  if (kind === 'apikey') {
    return (
      <PasswordInput
        label={words.credential.apiKey}
        placeholder={words.credential.apiKeyExample}
        autoComplete="off"
        value={credentials.apiKey}
        onChange={(event) => set({ apiKey: event.currentTarget.value.trim() })}
        visibilityToggleButtonProps={{ 'aria-label': words.credential.showApiKey }}
      />
    );
  }
  if (kind !== 'token' && kind !== 'client') return null;
  return (
    <>
      <TextInput
        label={words.credential.clientId}
        placeholder={words.credential.clientIdExample}
        autoComplete="off"
        value={credentials.clientId}
        onChange={(event) => set({ clientId: event.currentTarget.value.trim() })}
      />
      <PasswordInput
        label={words.credential.clientSecret}
        placeholder={words.credential.clientSecretExample}
        autoComplete="off"
        value={credentials.clientSecret}
        onChange={(event) => set({ clientSecret: event.currentTarget.value.trim() })}
        visibilityToggleButtonProps={{ 'aria-label': words.credential.showClientSecret }}
      />
    </>
  );
}

export function isFilledIn(
  kind: CredentialKind | undefined,
  credentials: ReturnType<typeof useCredentials>[0],
): boolean {
  if (kind === 'apikey') return credentials.apiKey !== '';
  if (kind === 'token' || kind === 'client') return credentials.clientId !== '' && credentials.clientSecret !== '';
  return true;
}
