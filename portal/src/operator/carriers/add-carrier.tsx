import { Button, Drawer, NativeSelect, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier, Preset } from '../../api/operator-types.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/carriers.ts';
import { choicesOf, groupsOf, kindOf, usePresets } from './carrier-kinds.ts';
import { toDraft, toSettings } from './settings-draft.ts';
import { SettingsForm, shownFields } from './settings-form.tsx';

interface AddCarrierProps {
  opened: boolean;
  onClose: () => void;
}

export function AddCarrier({ opened, onClose }: AddCarrierProps) {
  const presets = usePresets();
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="xl"
      title={words.add.title}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      {presets === undefined ? <Skeleton height={260} /> : <AddForm presets={presets} />}
    </Drawer>
  );
}

function AddForm({ presets }: { presets: Preset[] }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [choice, setChoice] = useState('smpp');
  const [unfit, setUnfit] = useState<string | undefined>(undefined);
  const { kind, preset } = kindOf(choice);
  const groups = groupsOf(kind, preset, presets);
  const [draft, setDraft] = useState(() => toDraft({}, groups));
  const { run, busy, problem } = useAction(async (settings: object) => {
    await call<Carrier>('POST', operatorPath('carriers'), { body: { name, kind, settings } });
    navigate(`/operator/carriers/${name}`);
  });

  function choose(next: string): void {
    const chosen = kindOf(next);
    setChoice(next);
    setDraft(toDraft({}, groupsOf(chosen.kind, chosen.preset, presets)));
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    setUnfit(undefined);
    try {
      run({ ...toSettings(draft, groups), ...(preset !== undefined && { preset }) });
    } catch (error) {
      setUnfit((error as Error).message);
    }
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="lg">
        <TextInput
          label={words.add.name}
          description={words.add.nameRule}
          placeholder={words.add.nameExample}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
          error={problem?.of('name')}
        />
        <NativeSelect
          label={words.add.account}
          data={choicesOf(presets)}
          value={choice}
          onChange={(event) => choose(event.currentTarget.value)}
        />
        <SettingsForm groups={groups} draft={draft} onChange={setDraft} problem={problem} kept={[]} />
        {unfit !== undefined && <Callout tone="bad" title={unfit} />}
        <ProblemCallout problem={problem} fields={['name', ...shownFields(groups)]} />
        <Button type="submit" loading={busy}>
          {words.add.submit}
        </Button>
      </Stack>
    </form>
  );
}
