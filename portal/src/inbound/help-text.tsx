import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { applicationPath, call } from '../api/call.ts';
import type { ApplicationDetail } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Panel } from '../parts/panel.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/inbound.ts';

interface HelpTextProps {
  application: ApplicationDetail;
  onChange: () => void;
}

/** The reply to people who text HELP. */
export function HelpText({ application, onChange }: HelpTextProps) {
  const showToast = useToast();
  const before = application.help_text ?? '';
  const [text, setText] = useState(before);
  const { run, busy, problem } = useAction(async () => {
    const body = { help_text: text.trim() === '' ? null : text };
    await call('PATCH', applicationPath(application.id), { body });
    showToast(words.help.saved);
    onChange();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Panel title={words.help.title} lead={words.help.lead}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={words.help.title}
            placeholder={words.help.example}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            error={problem?.of('help_text')}
          />
          <ProblemCallout problem={problem} fields={['help_text']} />
          <Group>
            <Button type="submit" variant="default" loading={busy} disabled={text === before}>
              {words.help.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
