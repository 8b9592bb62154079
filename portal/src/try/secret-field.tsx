import { PasswordInput, TextInput } from '@mantine/core';
import type { ApiName, ApplicationDetail } from '../api/types.ts';
import type { Update } from '../session/page-state.ts';
import type { Secrets } from '../session/secrets.ts';

interface SecretFieldProps {
  application: ApplicationDetail;
  api: ApiName;
  secrets: Secrets;
  updateSecrets: Update<Secrets>;
}

const memoryOnly = 'Stays in this page until you reload or sign out.';

/** The credential for the call: filled in if the portal just showed it, else the user pastes it. */
export function SecretField({ application, api, secrets, updateSecrets }: SecretFieldProps) {
  const isKey = api === 'sms';

  function set(value: string): void {
    const secret = value.trim();
    updateSecrets((before) => ({ ...before, ...(isKey ? { apiKey: secret } : { clientSecret: secret }) }));
  }

  const field = (
    <PasswordInput
      label={isKey ? 'API key' : 'Client secret'}
      description={memoryOnly}
      placeholder={isKey ? 'Paste your key: hg_…' : 'Paste the client secret'}
      autoComplete="off"
      value={isKey ? secrets.apiKey : secrets.clientSecret}
      onChange={(event) => set(event.currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': isKey ? 'Show the API key' : 'Show the client secret' }}
    />
  );
  if (isKey) return field;
  return (
    <>
      <TextInput label="Client id" readOnly value={application.client?.client_id ?? ''} />
      {field}
    </>
  );
}
