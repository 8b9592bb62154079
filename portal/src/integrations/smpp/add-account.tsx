import { Button, Modal, NumberInput, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import type { NewSmppAccount } from '../../api/types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/smpp.tsx';

interface AddAccountProps {
  path: string;
  onClose: () => void;
  onMade: (made: NewSmppAccount) => void;
}

const usualBinds = 2;

export function AddAccount({ path, onClose, onMade }: AddAccountProps) {
  const [binds, setBinds] = useState<number | string>(usualBinds);
  const [addresses, setAddresses] = useState('');
  const { run, busy, problem } = useAction(async () => {
    const list = addresses.split(/[\s,]+/).filter((entry) => entry !== '');
    onMade(await call<NewSmppAccount>('POST', path, { body: { binds, addresses: list } }));
  });
  const wrongAddress = problem?.details.find(({ field }) => field.startsWith('addresses'));
  return (
    <Modal opened onClose={onClose} title={words.createTitle} closeButtonProps={{ 'aria-label': words.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <Stack>
          <NumberInput
            label={words.binds}
            description={words.bindsRule}
            value={binds}
            onChange={setBinds}
            min={1}
            max={50}
            allowDecimal={false}
            data-autofocus
            error={problem?.of('binds', words.binds)}
          />
          <Textarea
            label={words.addresses}
            description={words.addressesRule}
            value={addresses}
            onChange={(event) => setAddresses(event.currentTarget.value)}
            autosize
            minRows={2}
            maxRows={8}
            error={wrongAddress === undefined ? undefined : problem?.of(wrongAddress.field, words.addresses)}
          />
          <ProblemCallout problem={problem} fields={['binds', ...(wrongAddress ? [wrongAddress.field] : [])]} />
          <Button type="submit" loading={busy}>
            {words.submit}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
