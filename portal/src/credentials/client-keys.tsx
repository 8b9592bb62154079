import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { applicationPath, call } from '../api/call.ts';
import type { ApplicationDetail, ClientKey, Page } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { useCanChange } from '../session/role.ts';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/credentials.tsx';
import { AddClientKey } from './add-client-key.tsx';
import { EnableButton, SuspendedNote } from './enable-button.tsx';
import { SecretRow } from './secret-row.tsx';

const words = allWords.publicKeys;

/** Public keys by which the client gets tokens without a secret (`private_key_jwt`). */
export function ClientKeys({ application }: { application: ApplicationDetail }) {
  const showToast = useToast();
  const canChange = useCanChange();
  const path = applicationPath(application.id, '/client-keys');
  const { data, problem, reload } = useLoad<Page<ClientKey>>(path);
  const [adding, setAdding] = useState(false);

  return (
    <Panel
      title={words.title}
      lead={words.lead}
      actions={
        canChange && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
            {words.add}
          </Button>
        )
      }
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={72} />}
        {data?.data.length === 0 && <EmptyState title={words.none}>{words.howTo}</EmptyState>}
        <SuspendedNote secrets={data?.data ?? []} />
        {data?.data.map((key) => (
          <SecretRow key={key.id} name={key.name} shown={words.shown(key.alg, key.kid)} secret={key}>
            {canChange && key.suspended_at !== null && (
              <EnableButton
                path={`${path}/${key.id}`}
                done={words.enabled}
                about={words.about(key.name ?? key.kid)}
                onDone={reload}
              />
            )}
            {canChange && (
              <ConfirmButton
                label={words.delete}
                about={words.about(key.name ?? key.kid)}
                question={words.question}
                act={async () => {
                  await call('DELETE', `${path}/${key.id}`);
                  showToast(words.deleted);
                  reload();
                }}
              >
                {words.effect}
              </ConfirmButton>
            )}
          </SecretRow>
        ))}
      </Stack>
      {adding && (
        <AddClientKey
          path={path}
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false);
            showToast(words.added);
            reload();
          }}
        />
      )}
    </Panel>
  );
}
