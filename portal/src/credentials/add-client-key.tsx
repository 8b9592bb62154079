import { Button, Modal, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words as allWords } from '../words/credentials.tsx';

const words = allWords.publicKeys;

interface AddClientKeyProps {
  path: string;
  onAdded: () => void;
  onClose: () => void;
}

/** Asks for a public key. The private one stays where it was made. */
export function AddClientKey({ path, onAdded, onClose }: AddClientKeyProps) {
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const [alg, setAlg] = useState('');
  const { run, busy, problem } = useAction(async () => {
    await call('POST', path, {
      body: { name: name.trim() || null, public_key: publicKey, ...(alg !== '' && { alg }) },
    });
    onAdded();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={words.add}
      size="lg"
      centered
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={words.name}
            description={words.nameHint}
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problem?.of('name') && words.nameError}
            data-autofocus
          />
          <Textarea
            label={words.key}
            description={words.keyHint}
            rows={7}
            spellCheck={false}
            maxLength={4000}
            value={publicKey}
            onChange={(event) => setPublicKey(event.currentTarget.value)}
            error={problem?.of('public_key')}
          />
          <NativeSelect
            label={words.alg}
            description={words.algHint}
            data={words.algs}
            value={alg}
            onChange={(event) => setAlg(event.currentTarget.value)}
            error={problem?.of('alg')}
          />
          <ProblemCallout problem={problem} fields={['name', 'public_key', 'alg']} />
          <Button type="submit" loading={busy}>
            {words.submit}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
