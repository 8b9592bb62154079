import { Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { applicationPath, call } from '../api/call.ts';
import type { ApiKey, ApplicationDetail, Credential, NewApiKey, Page } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { useCanChange } from '../session/role.ts';
import { useSecrets, withCredential } from '../session/secrets.ts';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/credentials.tsx';
import { EnableButton, SuspendedNote } from './enable-button.tsx';
import { MakeSecret, type SecretToMake } from './make-secret.tsx';
import { NewCredential } from './new-credential.tsx';
import { SecretRow } from './secret-row.tsx';

export function ApiKeys({ application }: { application: ApplicationDetail }) {
  const showToast = useToast();
  const canChange = useCanChange();
  const path = applicationPath(application.id, '/keys');
  const { data, problem, reload } = useLoad<Page<ApiKey>>(path);
  const [, updateSecrets] = useSecrets(application.id);
  const [fresh, setFresh] = useState<Credential>();
  const registration = application.registrations.find(({ api }) => api === 'sms');

  async function make({ name, overlapSeconds }: SecretToMake): Promise<void> {
    const made = await call<NewApiKey>('POST', path, { body: { name, overlap_seconds: overlapSeconds } });
    const credential: Credential = { type: 'api_key', id: made.id, api_key: made.api_key };
    updateSecrets(withCredential(credential));
    setFresh(credential);
    reload();
  }

  return (
    <Panel
      title={words.keys.title}
      lead={words.keys.lead}
      actions={
        canChange &&
        registration && <MakeSecret what={words.make.key} named canRotate={(data?.data.length ?? 0) > 0} make={make} />
      }
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={72} />}
        {data?.data.length === 0 && (
          <EmptyState title={words.keys.none}>
            {registration === undefined
              ? words.keys.register(`/applications/${application.id}`)
              : words.keys.allRevoked}
          </EmptyState>
        )}
        <SuspendedNote secrets={data?.data ?? []} />
        {data?.data.map((key) => (
          <SecretRow key={key.id} name={key.name} shown={`${key.prefix}…${key.last_four}`} secret={key}>
            {canChange && key.suspended_at !== null && (
              <EnableButton
                path={`${path}/${key.id}`}
                done={words.keys.enabled}
                about={words.keys.revokeAbout(key.name, key.last_four)}
                onDone={reload}
              />
            )}
            {canChange && (
              <ConfirmButton
                label={words.keys.revoke}
                about={words.keys.revokeAbout(key.name, key.last_four)}
                question={words.keys.revokeQuestion(key.name)}
                act={async () => {
                  await call('DELETE', `${path}/${key.id}`);
                  showToast(words.keys.revoked);
                  reload();
                }}
              >
                {words.keys.revokeEffect(key.last_four)}
              </ConfirmButton>
            )}
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
