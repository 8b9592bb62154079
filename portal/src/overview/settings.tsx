import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { Application } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Confirm } from '../parts/confirm.tsx';
import { useNotice } from '../parts/notice.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

export function Settings({ application, onChange }: { application: Application; onChange: () => void }) {
  const tell = useNotice();
  const [, navigate] = useLocation();
  const [name, setName] = useState(application.name);
  const path = applicationPath(application.id);
  const { run, busy, problem } = useAction(async () => {
    await call('PATCH', path, { body: { name } });
    tell('Renamed.');
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
        <Confirm
          label="Delete application"
          question={`Delete ${application.name}?`}
          act={async () => {
            await call('DELETE', path);
            tell(`${application.name} is deleted.`);
            navigate('/applications');
          }}
        >
          Its keys, client and tokens are dead at once. This cannot be undone.
        </Confirm>
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
        <ProblemNote problem={problem} fields={['name']} />
      </form>
    </Panel>
  );
}
