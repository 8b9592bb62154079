import { Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { ApiKey, ApplicationDetail, Credential, NewApiKey, Page } from '../api/types.ts';
import { useLoad } from '../api/use-load.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useToast } from '../parts/toast.tsx';
import { useSecrets, withCredential } from '../session/secrets.ts';
import { NewCredential } from './new-credential.tsx';
import { Rotate } from './rotate.tsx';
import { SecretRow } from './secret-row.tsx';

export function ApiKeys({ application }: { application: ApplicationDetail }) {
  const showToast = useToast();
  const path = applicationPath(application.id, '/keys');
  const { data, problem, reload } = useLoad<Page<ApiKey>>(path);
  const [, updateSecrets] = useSecrets(application.id);
  const [fresh, setFresh] = useState<Credential>();
  const registration = application.registrations.find(({ api }) => api === 'sms');

  async function rotate(overlapSeconds: number): Promise<void> {
    const made = await call<NewApiKey>('POST', path, { body: { overlap_seconds: overlapSeconds } });
    const credential: Credential = { type: 'api_key', id: made.id, api_key: made.api_key };
    updateSecrets(withCredential(credential));
    setFresh(credential);
    reload();
  }

  return (
    <Panel
      title="API keys"
      lead="Send the key in the apikey header of the SMS Messaging API."
      actions={registration && <Rotate what="API key" older="Older keys" rotate={rotate} />}
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={72} />}
        {data?.data.length === 0 && (
          <EmptyState title="No API key">
            {registration === undefined ? (
              <>
                Register for SMS Messaging on the <Link href={`/applications/${application.id}`}>overview</Link> to get
                a key.
              </>
            ) : (
              'All API keys are revoked. Create a new key to send again.'
            )}
          </EmptyState>
        )}
        {data?.data.map((key) => (
          <SecretRow key={key.id} name={`${key.prefix}…${key.last_four}`} secret={key}>
            <ConfirmButton
              label="Revoke"
              about={`the key that ends in ${key.last_four}`}
              question="Revoke this key?"
              act={async () => {
                await call('DELETE', `${path}/${key.id}`);
                showToast('API key revoked.');
                reload();
              }}
            >
              The service will refuse every request with the key that ends in {key.last_four}.
            </ConfirmButton>
          </SecretRow>
        ))}
      </Stack>
      {fresh && (
        <NewCredential
          credential={fresh}
          api="sms"
          pending={registration?.status === 'pending'}
          applicationId={application.id}
          onClose={() => setFresh(undefined)}
        />
      )}
    </Panel>
  );
}
