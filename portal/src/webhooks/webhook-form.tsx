import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { EventType } from '../api/event-types.ts';
import type { Webhook } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useSession } from '../session/session.tsx';
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

/** Where a webhook leads, and which events it gets. */
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
    setUnfit(none ? 'Choose at least one event, or all events.' : undefined);
    if (!none) run();
  }

  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="URL"
            type="url"
            description={
              local
                ? 'In the sandbox it may be on your own machine. Production needs https.'
                : 'An https address that is reachable from the internet.'
            }
            placeholder={local ? 'http://127.0.0.1:3000/' : 'https://example.com/heliograph'}
            data-autofocus
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={problem?.of('url', 'URL')}
          />
          <TextInput
            label="Description"
            description="Optional: what receives the events."
            placeholder="Order service"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={problem?.of('description')}
          />
          <TypeChoice chosen={chosen} onChange={setChosen} error={unfit ?? problem?.of('types', 'Events')} />
          <ProblemCallout problem={problem} fields={['url', 'description', 'types']} />
          <Button type="submit" loading={busy}>
            {action}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
