import { Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { ApiKey, ApplicationDetail, Credential, NewApiKey, Page } from '../api/types.ts';
import { useLoad } from '../api/use-load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Empty } from '../parts/empty.tsx';
import { useNotice } from '../parts/notice.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSecrets, withCredential } from '../session/secrets.ts';
import { NewCredential } from './new-credential.tsx';
import { Rotate } from './rotate.tsx';
import { SecretRow } from './secret-row.tsx';

export function ApiKeys({ application }: { application: ApplicationDetail }) {
  const tell = useNotice();
  const path = applicationPath(application.id, '/keys');
  const { data, problem, reload } = useLoad<Page<ApiKey>>(path);
  const [, keepSecrets] = useSecrets(application.id);
  const [fresh, setFresh] = useState<Credential>();
  const registration = application.registrations.find(({ api }) => api === 'sms');

  async function rotate(overlapSeconds: number): Promise<void> {
    const made = await call<NewApiKey>('POST', path, { body: { overlap_seconds: overlapSeconds } });
    const credential: Credential = { type: 'api_key', id: made.id, api_key: made.api_key };
    keepSecrets(withCredential(credential));
    setFresh(credential);
    reload();
  }

  return (
    <Panel
      title="API keys"
      lead="For the SMS Messaging API, in the apikey header."
      actions={registration && <Rotate what="API key" older="Older keys" rotate={rotate} />}
    >
      <Stack>
        <ProblemNote problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={72} />}
        {data?.data.length === 0 && (
          <Empty title="No API key">
            {registration === undefined ? (
              <>
                Register for SMS Messaging on the <Link href={`/applications/${application.id}`}>overview</Link>, and
                the key appears.
              </>
            ) : (
              'Every key is revoked. Make a new one to send again.'
            )}
          </Empty>
        )}
        {data?.data.map((key) => (
          <SecretRow key={key.id} name={`${key.prefix}…${key.last_four}`} secret={key}>
            <Confirm
              label="Revoke"
              about={`the key that ends in ${key.last_four}`}
              question="Revoke this key?"
              act={async () => {
                await call('DELETE', `${path}/${key.id}`);
                tell('Revoked: the key is dead.');
                reload();
              }}
            >
              Whatever sends with the key that ends in {key.last_four} is refused from this moment on.
            </Confirm>
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
