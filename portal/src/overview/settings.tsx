import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { Application } from '../api/types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { useAction } from '../session/use-action.ts';
import { words as allWords } from '../words/overview.ts';
import { Assurance } from './assurance.tsx';

const words = allWords.settings;

export function Settings({ application, onChange }: { application: Application; onChange: () => void }) {
  const showToast = useToast();
  const [, navigate] = useLocation();
  const [name, setName] = useState(application.name);
  const path = applicationPath(application.id);
  const { run, busy, problem } = useAction(async () => {
    await call('PATCH', path, { body: { name } });
    showToast(words.renamed);
    onChange();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Panel
      title={words.title}
      actions={
        <ConfirmButton
          label={words.delete}
          question={words.deleteQuestion(application.name)}
          typed={{ label: words.deleteName(application.name), text: application.name }}
          act={async () => {
            await call('DELETE', path);
            showToast(words.deleted(application.name));
            navigate('/applications');
          }}
        >
          {words.deleteEffect}
        </ConfirmButton>
      }
    >
      <form onSubmit={submit} noValidate>
        <Group align="flex-end">
          <TextInput
            label={words.name}
            flex="1 1 220px"
            maw={360}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problem?.of('name') && words.nameError}
          />
          <Button type="submit" variant="default" loading={busy} disabled={name === application.name}>
            {words.rename}
          </Button>
        </Group>
        <ProblemCallout problem={problem} fields={['name']} />
      </form>
      <Assurance application={application} onChange={onChange} />
    </Panel>
  );
}
