import { Stack } from '@mantine/core';
import { useState } from 'react';
import { apis, apiTitle } from '../api/apis.ts';
import type { ApiName, Registered } from '../api/types.ts';
import { NewCredential } from '../credentials/new-credential.tsx';
import { OwnHolds } from '../guard/own-holds.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { Steady } from '../parts/steady.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { useCanChange } from '../session/role.ts';
import { useSecrets, withCredential } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import { words as allWords } from '../words/overview.ts';
import { ApiRow } from './api-row.tsx';
import { LatestFailures } from './latest-failures.tsx';
import { NextStep } from './next-step.tsx';
import { Settings } from './settings.tsx';
import { TestNumbers } from './test-numbers.tsx';
import { Today } from './today.tsx';

const words = allWords.plans;

/** The application's traffic of today, its latest failures and its plans. */
export default function Overview({ application, onChange }: TabProps) {
  const { service } = useSession();
  const canChange = useCanChange();
  const showToast = useToast();
  const [, updateSecrets] = useSecrets(application.id);
  const [choosing, setChoosing] = useState<ApiName | undefined>(undefined);
  const [fresh, setFresh] = useState<Registered | undefined>(undefined);

  function onRegistered(registered: Registered): void {
    if (registered.credential !== null) {
      updateSecrets(withCredential(registered.credential));
      setFresh(registered);
    } else {
      showToast(whatHappened(registered));
    }
    onChange();
  }

  const registrationOf = (api: ApiName) => application.registrations.find((each) => each.api === api);
  const registered = application.registrations.length > 0;
  return (
    <Steady height={900}>
      <Stack gap="lg">
        <NextStep application={application} onStart={() => setChoosing('sms')} />
        {registered && <OwnHolds applicationId={application.id} />}
        {registered && <Today applicationId={application.id} />}
        {registered && <LatestFailures applicationId={application.id} />}
        <Panel title={words.title} lead={words.lead}>
          {apis.map((api) => (
            <ApiRow
              key={api.name}
              applicationId={application.id}
              api={api}
              registration={registrationOf(api.name)}
              open={choosing === api.name}
              onOpen={(open) => setChoosing(open ? api.name : undefined)}
              onRegistered={onRegistered}
              onEnded={onChange}
            />
          ))}
        </Panel>
        {registered && canChange && service.environment === 'sandbox' && <TestNumbers applicationId={application.id} />}
        {canChange && <Settings application={application} onChange={onChange} />}
        {fresh?.credential && (
          <NewCredential
            credential={fresh.credential}
            api={fresh.api}
            pending={fresh.status === 'pending'}
            applicationId={application.id}
            onClose={() => setFresh(undefined)}
          />
        )}
      </Stack>
    </Steady>
  );
}

function whatHappened({ api, plan, status, requested_plan }: Registered): string {
  if (requested_plan !== null) return words.requested(requested_plan);
  if (status === 'pending') return words.registrationRequested;
  return words.changed(apiTitle(api), plan);
}
