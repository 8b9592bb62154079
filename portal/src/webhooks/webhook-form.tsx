import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { EventType } from '../api/event-types.ts';
import type { Webhook } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/webhooks.tsx';
import { type ChosenTypes, chosenFrom, TypeChoice } from './type-choice.tsx';

export interface WebhookFields {
  url: string;
  types: EventType[];
  description: string | null;
}

interface WebhookFormProps {
  title: string;
  /** The text of the button. */
  action: string;
  before?: Webhook;
  save: (fields: WebhookFields) => Promise<void>;
  onClose: () => void;
}

/** The URL of a webhook and its events. */
export function WebhookForm({ title, action, before, save, onClose }: WebhookFormProps) {
  const { service } = useSession();
  const [url, setUrl] = useState(before?.url ?? '');
  const [description, setDescription] = useState(before?.description ?? '');
  const [chosen, setChosen] = useState<ChosenTypes>(chosenFrom(before?.types ?? []));
  const [unfit, setUnfit] = useState<string | undefined>(undefined);
  const { run, busy, problem } = useAction(() =>
    save({ url: url.trim(), types: chosen ?? [], description: description.trim() || null }),
  );
  const local = service.environment === 'sandbox';

  function submit(event: FormEvent): void {
    event.preventDefault();
    const none = chosen?.length === 0;
    setUnfit(none ? words.form.noEvent : undefined);
    if (!none) run();
  }

  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ 'aria-label': words.close }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={words.form.url}
            type="url"
            description={local ? words.form.urlSandbox : words.form.urlRule}
            placeholder={local ? words.form.exampleSandbox : words.form.example}
            data-autofocus
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={problem?.of('url', 'URL')}
          />
          <TextInput
            label={words.form.description}
            description={words.form.descriptionRule}
            placeholder={words.form.descriptionExample}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={problem?.of('description')}
          />
          <TypeChoice chosen={chosen} onChange={setChosen} error={unfit ?? problem?.of('types', words.events)} />
          <ProblemCallout problem={problem} fields={['url', 'description', 'types']} />
          <Button type="submit" loading={busy}>
            {action}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
