import { PasswordInput, TextInput } from '@mantine/core';
import type { ApiName, ApplicationDetail } from '../api/types.ts';
import type { Keep } from '../session/kept.ts';
import type { Secrets } from '../session/secrets.ts';

interface SecretFieldProps {
  application: ApplicationDetail;
  api: ApiName;
  secrets: Secrets;
  keepSecrets: Keep<Secrets>;
}

const memoryOnly = 'Kept in this page only, until you reload or sign out.';

/** The secret to call with: already there when it was just shown, otherwise to be pasted. */
export function SecretField({ application, api, secrets, keepSecrets }: SecretFieldProps) {
  const isKey = api === 'sms';

  function set(value: string): void {
    const secret = value.trim();
    keepSecrets((before) => ({ ...before, ...(isKey ? { apiKey: secret } : { clientSecret: secret }) }));
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
