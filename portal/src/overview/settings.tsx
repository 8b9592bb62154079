import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { Application } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useToast } from '../parts/toast.tsx';

export function Settings({ application, onChange }: { application: Application; onChange: () => void }) {
  const showToast = useToast();
  const [, navigate] = useLocation();
  const [name, setName] = useState(application.name);
  const path = applicationPath(application.id);
  const { run, busy, problem } = useAction(async () => {
    await call('PATCH', path, { body: { name } });
    showToast('Application renamed.');
    onChange();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Panel
      title="Settings"
      actions={
        <ConfirmButton
          label="Delete application"
          question={`Delete ${application.name}?`}
          act={async () => {
            await call('DELETE', path);
            showToast(`${application.name} deleted.`);
            navigate('/applications');
          }}
        >
          Its keys, client and tokens stop working at once. You cannot undo this.
        </ConfirmButton>
      }
    >
      <form onSubmit={submit} noValidate>
        <Group align="flex-end">
          <TextInput
            label="Name"
            flex="1 1 220px"
            maw={360}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problem?.of('name')}
          />
          <Button type="submit" variant="default" loading={busy} disabled={name === application.name}>
            Rename
          </Button>
        </Group>
        <ProblemCallout problem={problem} fields={['name']} />
      </form>
    </Panel>
  );
}
