import { Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words as allWords } from '../words/credentials.tsx';

const words = allWords.make;

export interface SecretToMake {
  name: string | null;
  /** How long older secrets keep working; null for no end. */
  overlapSeconds: number | null;
}

interface MakeSecretProps {
  /** Its name on the page, such as “API key”. */
  what: string;
  /** Whether there is a secret to replace. */
  canRotate: boolean;
  named?: boolean;
  make: (secret: SecretToMake) => Promise<void>;
}

/** Creates a secret in addition to the others, or to replace them. */
export function MakeSecret(props: MakeSecretProps) {
  const [mode, setMode] = useState<'create' | 'rotate' | undefined>(undefined);
  const { what, canRotate } = props;
  return (
    <Group gap="xs">
      <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setMode('create')}>
        {words.create(what)}
      </Button>
      {canRotate && (
        <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setMode('rotate')}>
          {words.rotate(what)}
        </Button>
      )}
      <Modal
        opened={mode !== undefined}
        onClose={() => setMode(undefined)}
        title={mode === 'rotate' ? words.rotate(what) : words.create(what)}
        centered
        closeButtonProps={{ 'aria-label': words.close }}
      >
        {mode !== undefined && <MakeForm {...props} mode={mode} onMade={() => setMode(undefined)} />}
      </Modal>
    </Group>
  );
}

function MakeForm({
  what,
  named,
  make,
  mode,
  onMade,
}: MakeSecretProps & { mode: 'create' | 'rotate'; onMade: () => void }) {
  const [name, setName] = useState('');
  const [overlap, setOverlap] = useState('86400');
  const { run, busy, problem } = useAction(async () => {
    await make({ name: name.trim() || null, overlapSeconds: mode === 'rotate' ? Number(overlap) : null });
    onMade();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text>{mode === 'rotate' ? words.rotateEffect(what) : words.createEffect(what)}</Text>
        {named && (
          <TextInput
            label={words.name}
            description={words.nameHint}
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problem?.of('name') && words.nameError}
            data-autofocus
          />
        )}
        {mode === 'rotate' && (
          <NativeSelect
            label={words.expire(what)}
            description={words.expireHint}
            data={words.overlaps}
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
            data-autofocus={!named || undefined}
          />
        )}
        <ProblemCallout problem={problem} fields={['name']} />
        <Button type="submit" loading={busy}>
          {words.submit[mode]}
        </Button>
      </Stack>
    </form>
  );
}
