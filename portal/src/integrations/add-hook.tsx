import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { NewHook } from '../api/types.ts';
import { words } from '../words/integrations.tsx';
import { HookForm } from './hook-form.tsx';
import { KindChoice } from './kind-choice.tsx';
import { type HookKind, nameOf } from './kinds.ts';
import { ShownSecret } from './shown-secret.tsx';

interface AddHookProps {
  applicationId: string;
  /** The chosen server; without it the dialog begins with the choice. */
  kind: HookKind | undefined;
  onClose: () => void;
}

/** Chooses a server, creates its hook, and shows the secret with the settings. */
export function AddHook({ applicationId, kind: first, onClose }: AddHookProps) {
  const [, navigate] = useLocation();
  const [kind, setKind] = useState(first);
  const [made, setMade] = useState<NewHook>();
  const open = ({ id }: NewHook) => navigate(`/applications/${applicationId}/integrations/${id}`);

  async function create(chosen: HookKind, fields: object): Promise<void> {
    const hook = await call<NewHook>('POST', applicationPath(applicationId, '/hooks'), {
      body: { kind: chosen, ...fields },
    });
    if (hook.secret === null) open(hook);
    else setMade(hook);
  }

  if (made !== undefined && made.secret !== null) {
    return <ShownSecret hook={made} secret={made.secret} onClose={() => open(made)} />;
  }
  if (kind === undefined) {
    return (
      <Modal
        opened
        onClose={onClose}
        title={words.list.choose}
        size="lg"
        closeButtonProps={{ 'aria-label': words.close }}
      >
        <KindChoice onChoose={setKind} />
      </Modal>
    );
  }
  return (
    <HookForm
      key={kind}
      kind={kind}
      title={words.form.title(nameOf(kind))}
      action={words.form.create}
      onBack={() => setKind(undefined)}
      onClose={onClose}
      save={(fields) => create(kind, fields)}
    />
  );
}
