import { Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { ApplicationDetail, ClientCredential } from '../api/types.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { useSecrets, withCredential } from '../session/secrets.ts';
import styles from './credentials.module.css';
import { NewCredential } from './new-credential.tsx';
import { Rotate } from './rotate.tsx';
import { SecretRow } from './secret-row.tsx';

export function ClientSecrets({ application, onChange }: { application: ApplicationDetail; onChange: () => void }) {
  const [, updateSecrets] = useSecrets(application.id);
  const [fresh, setFresh] = useState<ClientCredential>();
  const { client } = application;
  const registration = application.registrations.find(({ api }) => api !== 'sms');

  async function rotate(overlapSeconds: number): Promise<void> {
    const path = applicationPath(application.id, '/client-secrets');
    const made = await call<ClientCredential>('POST', path, { body: { overlap_seconds: overlapSeconds } });
    updateSecrets(withCredential(made));
    setFresh(made);
    onChange();
  }

  return (
    <Panel
      title="Client and secrets"
      lead="One client serves the Verification and Messaging APIs. A new secret without overlap ends the older secrets and all tokens."
      actions={client && <Rotate what="client secret" older="Older secrets" rotate={rotate} />}
    >
      {client === null ? (
        <EmptyState title="No client">
          Register for Verification or Messaging on the <Link href={`/applications/${application.id}`}>overview</Link>{' '}
          to get a client.
        </EmptyState>
      ) : (
        <Stack>
          <div className={styles.client}>
            <span>
              Client id <code>{client.client_id}</code>
            </span>
            <CopyButton text={client.client_id} what="the client id" />
          </div>
          {client.secrets.map((secret) => (
            <SecretRow key={secret.id} name={`…${secret.last_four}`} secret={secret} />
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
