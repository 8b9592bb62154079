import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { apis, apiTitle } from '../api/apis.ts';
import type { ApiName, Registered } from '../api/types.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { NewCredential } from '../credentials/new-credential.tsx';
import { Callout } from '../parts/callout.tsx';
import { Icon } from '../parts/icon.tsx';
import { useToast } from '../parts/toast.tsx';
import { useSecrets, withCredential } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import { ApiPanel } from './api-panel.tsx';
import { Settings } from './settings.tsx';

export default function Overview({ application, onChange }: TabProps) {
  const { service } = useSession();
  const showToast = useToast();
  const [, updateSecrets] = useSecrets(application.id);
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
  const ready = application.registrations.some(({ status }) => status === 'approved');
  return (
    <Stack gap="lg">
      {application.registrations.length === 0 && (
        <Callout tone="calm" title="Next: choose an API and a plan">
          {service.environment === 'sandbox'
            ? 'It is approved at once. You get a credential and a curl command to paste.'
            : 'You get the credential at once. It works once an operator approves the registration.'}
        </Callout>
      )}
      {ready && (
        <Group justify="space-between">
          <span>This application is ready to use.</span>
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
  if (requested_plan !== null) return `Requested the ${requested_plan} plan. An operator must approve it.`;
  if (status === 'pending') return 'Registration requested. An operator must approve it.';
  return `${apiTitle(api)} is now on the ${plan} plan. Your credential stays the same.`;
}
