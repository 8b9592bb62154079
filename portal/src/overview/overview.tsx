import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { apis, apiTitle } from '../api/apis.ts';
import type { ApiName, Registered } from '../api/types.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { NewCredential } from '../credentials/new-credential.tsx';
import { Icon } from '../parts/icon.tsx';
import { Note } from '../parts/note.tsx';
import { useNotice } from '../parts/notice.tsx';
import { useSecrets, withCredential } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import { ApiPanel } from './api-panel.tsx';
import { Settings } from './settings.tsx';

export default function Overview({ application, onChange }: TabProps) {
  const { service } = useSession();
  const tell = useNotice();
  const [, keepSecrets] = useSecrets(application.id);
  const [fresh, setFresh] = useState<Registered | undefined>(undefined);

  function onRegistered(registered: Registered): void {
    if (registered.credential !== null) {
      keepSecrets(withCredential(registered.credential));
      setFresh(registered);
    } else {
      tell(whatHappened(registered));
    }
    onChange();
  }

  const registrationOf = (api: ApiName) => application.registrations.find((each) => each.api === api);
  const ready = application.registrations.some(({ status }) => status === 'approved');
  return (
    <Stack gap="lg">
      {application.registrations.length === 0 && (
        <Note tone="calm" title="Next: choose an API and a plan">
          {service.environment === 'sandbox'
            ? 'It is approved at once, and the credential appears with a curl that works.'
            : 'The credential appears at once; it works as soon as an operator has approved the registration.'}
        </Note>
      )}
      {ready && (
        <Group justify="space-between">
          <span>Registered and ready.</span>
          <Button
            component={Link}
            href={`/applications/${application.id}/try`}
            rightSection={<Icon name="arrow" size={16} />}
          >
            Try it now
          </Button>
        </Group>
      )}
      {apis.map((api) => (
        <ApiPanel
          key={api.name}
          applicationId={application.id}
          api={api}
          registration={registrationOf(api.name)}
          onRegistered={onRegistered}
          onEnded={onChange}
        />
      ))}
      <Settings application={application} onChange={onChange} />
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
  );
}

function whatHappened({ api, plan, status, requested_plan }: Registered): string {
  if (requested_plan !== null) return `Asked for ${requested_plan}. An operator will look at it.`;
  if (status === 'pending') return 'Asked for. An operator will look at it.';
  return `${apiTitle(api)} is on the ${plan} plan now, with the same credential.`;
}
