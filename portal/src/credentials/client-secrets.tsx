import { Stack } from '@mantine/core';
import { useState } from 'react';
import { applicationPath, call } from '../api/call.ts';
import type { ApplicationDetail, ClientCredential } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { useCanChange } from '../session/role.ts';
import { useSecrets, withCredential } from '../session/secrets.ts';
import { words } from '../words/credentials.tsx';
import styles from './credentials.module.css';
import { EnableButton, SuspendedNote } from './enable-button.tsx';
import { MakeSecret, type SecretToMake } from './make-secret.tsx';
import { NewCredential } from './new-credential.tsx';
import { SecretRow } from './secret-row.tsx';

export function ClientSecrets({ application, onChange }: { application: ApplicationDetail; onChange: () => void }) {
  const showToast = useToast();
  const canChange = useCanChange();
  const path = applicationPath(application.id, '/client-secrets');
  const [, updateSecrets] = useSecrets(application.id);
  const [fresh, setFresh] = useState<ClientCredential>();
  const { client } = application;
  const registration = application.registrations.find(({ api }) => api !== 'sms');

  async function make({ overlapSeconds }: SecretToMake): Promise<void> {
    const made = await call<ClientCredential>('POST', path, { body: { overlap_seconds: overlapSeconds } });
    updateSecrets(withCredential(made));
    setFresh(made);
    onChange();
  }

  return (
    <Panel
      title={words.client.title}
      lead={words.client.lead}
      actions={
        canChange && client && <MakeSecret what={words.make.secret} canRotate={client.secrets.length > 0} make={make} />
      }
    >
      {client === null ? (
        <EmptyState title={words.client.none}>{words.client.register(`/applications/${application.id}`)}</EmptyState>
      ) : (
        <Stack>
          <div className={styles.client}>
            <span>
              {words.client.id} <code>{client.client_id}</code>
            </span>
            <CopyButton text={client.client_id} what={words.client.copyId} />
          </div>
          {client.secrets.length === 0 && (
            <EmptyState title={words.client.noSecret}>{words.client.allRevoked}</EmptyState>
          )}
          <SuspendedNote secrets={client.secrets} />
          {client.secrets.map((secret) => (
            <SecretRow key={secret.id} shown={`…${secret.last_four}`} secret={secret}>
              {canChange && secret.suspended_at !== null && (
                <EnableButton
                  path={`${path}/${secret.id}`}
                  done={words.client.enabled}
                  about={words.client.revokeAbout(secret.last_four)}
                  onDone={onChange}
                />
              )}
              {canChange && (
                <ConfirmButton
                  label={words.client.revoke}
                  about={words.client.revokeAbout(secret.last_four)}
                  question={words.client.revokeQuestion}
                  act={async () => {
                    await call('DELETE', `${path}/${secret.id}`);
                    showToast(words.client.revoked);
                    onChange();
                  }}
                >
                  {words.client.revokeEffect(secret.last_four)}
                </ConfirmButton>
              )}
            </SecretRow>
          ))}
        </Stack>
      )}
      {fresh && (
        <NewCredential
          credential={fresh}
          api={registration?.api ?? 'verify'}
          pending={registration?.status === 'pending'}
          applicationId={application.id}
          onClose={() => setFresh(undefined)}
        />
      )}
    </Panel>
  );
}
