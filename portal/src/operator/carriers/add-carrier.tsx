import { Button, Drawer, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import { useAction } from '../../api/use-action.ts';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { groupsOf } from './setting-fields.ts';
import { toDraft, toSettings } from './settings-draft.ts';
import { SettingsForm, shownFields } from './settings-form.tsx';

interface AddCarrierProps {
  opened: boolean;
  onClose: () => void;
}

export function AddCarrier({ opened, onClose }: AddCarrierProps) {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="xl"
      title="Add a carrier"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <AddForm />
    </Drawer>
  );
}

function AddForm() {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const kind = 'smpp' as string;
  const groups = groupsOf[kind] ?? [];
  const [draft, setDraft] = useState(() => toDraft({}, groups));
  const [restError, setRestError] = useState<string | undefined>(undefined);
  const { run, busy, problem } = useAction(async (settings: object) => {
    await call<Carrier>('POST', operatorPath('carriers'), { body: { name, kind, settings } });
    navigate(`/operator/carriers/${name}`);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    setRestError(undefined);
    try {
      run(toSettings(draft, groups));
    } catch (error) {
      setRestError(`This is no JSON object: ${(error as Error).message}`);
    }
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="lg">
        <TextInput
          label="Name"
          description="Routes and reports use it. It cannot be changed later."
          placeholder="acme-uk"
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
          error={problem?.of('name')}
        />
        <SettingsForm
          groups={groups}
          draft={draft}
          onChange={setDraft}
          problem={problem}
          kept={[]}
          restError={restError}
        />
        <ProblemCallout problem={problem} fields={['name', ...shownFields(groups)]} />
        <Button type="submit" loading={busy}>
          Add the carrier
        </Button>
      </Stack>
    </form>
  );
}
