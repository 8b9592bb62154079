import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call, operatorPath } from '../../api/call.ts';
import type { ListedSender } from '../../api/operator-types.ts';
import { Check } from '../../parts/check.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/senders.ts';
import { useCarrierNames } from '../use-carrier-names.ts';

interface ApproveSenderProps {
  sender: ListedSender;
  onApproved: () => void;
}

/** Approves a sender with its carriers, registration and rate, or changes them later. */
export function ApproveSender({ sender, onApproved }: ApproveSenderProps) {
  const [open, setOpen] = useState(false);
  const label = sender.status === 'approved' ? words.change : words.approve;
  return (
    <>
      <Button onClick={() => setOpen(true)} aria-label={`${label} ${sender.sender}`}>
        {label}
      </Button>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={`${label} ${sender.sender}`}
        centered
        closeButtonProps={{ 'aria-label': words.close }}
      >
        <ApproveForm
          sender={sender}
          label={label}
          onApproved={() => {
            setOpen(false);
            onApproved();
          }}
        />
      </Modal>
    </>
  );
}

function ApproveForm({ sender, label, onApproved }: ApproveSenderProps & { label: string }) {
  const showToast = useToast();
  const names = useCarrierNames() ?? [];
  const [carriers, setCarriers] = useState(sender.carriers);
  const [registration, setRegistration] = useState(sender.registration ?? '');
  const [perSecond, setPerSecond] = useState(String(sender.per_second ?? ''));
  const { run, busy, problem } = useAction(async () => {
    const body = {
      carriers,
      registration: registration.trim() === '' ? null : registration.trim(),
      per_second: perSecond.trim() === '' ? null : Number(perSecond),
    };
    await call('POST', operatorPath(`senders/${sender.id}/approve`), { body });
    showToast(`${sender.sender} approved.`);
    onApproved();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <fieldset style={{ margin: 0, padding: 0, border: 0 }}>
          <legend style={{ marginBottom: 8, padding: 0 }}>{words.carriersRule}</legend>
          <Stack gap={6}>
            {names.map((name) => (
              <Check
                key={name}
                label={name}
                checked={carriers.includes(name)}
                onChange={(checked) =>
                  setCarriers(checked ? [...carriers, name] : carriers.filter((each) => each !== name))
                }
              />
            ))}
          </Stack>
        </fieldset>
        <TextInput
          label={words.registration}
          description={words.registrationRule}
          value={registration}
          onChange={(event) => setRegistration(event.currentTarget.value)}
          error={problem?.of('registration')}
        />
        <TextInput
          label={words.perSecond}
          placeholder={words.noLimit}
          inputMode="numeric"
          value={perSecond}
          onChange={(event) => setPerSecond(event.currentTarget.value)}
          error={problem?.of('per_second', words.perSecond)}
        />
        <ProblemCallout problem={problem} fields={['registration', 'per_second']} />
        <Button type="submit" loading={busy} data-autofocus>
          {label}
        </Button>
      </Stack>
    </form>
  );
}
