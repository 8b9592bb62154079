import { PasswordInput, TextInput } from '@mantine/core';
import type { Ref } from 'react';
import type { ApiName, ApplicationDetail } from '../api/types.ts';
import type { Update } from '../session/page-state.ts';
import type { Secrets } from '../session/secrets.ts';
import { words } from '../words/try.tsx';

interface SecretFieldProps {
  application: ApplicationDetail;
  api: ApiName;
  secrets: Secrets;
  updateSecrets: Update<Secrets>;
  /** Set after an attempt to send without it. */
  isMissing: boolean;
  ref: Ref<HTMLInputElement>;
}

/** The credential for the call: filled in if the portal just showed it, else the user pastes it. */
export function SecretField({ application, api, secrets, updateSecrets, isMissing, ref }: SecretFieldProps) {
  const isKey = api === 'sms';
  const value = isKey ? secrets.apiKey : secrets.clientSecret;
  const name = isKey ? words.secret.key : words.secret.client;

  function set(typed: string): void {
    const secret = typed.trim();
    const clientId = application.client?.client_id ?? '';
    updateSecrets((before) => ({ ...before, ...(isKey ? { apiKey: secret } : { clientId, clientSecret: secret }) }));
  }

  const field = (
    <PasswordInput
      ref={ref}
      label={name.label}
      description={words.secret.where}
      placeholder={name.placeholder}
      autoComplete="off"
      value={value}
      onChange={(event) => set(event.currentTarget.value)}
      error={isMissing && value === '' ? name.missing : undefined}
      visibilityToggleButtonProps={{ 'aria-label': name.show }}
    />
  );
  if (isKey) return field;
  return (
    <>
      <TextInput label={words.secret.clientId} readOnly value={application.client?.client_id ?? ''} />
      {field}
    </>
  );
}
