import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Hook } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words as allWords } from '../words/integrations.tsx';
import { type HookKind, makesOwnKey, mayComeWithoutCode } from './kinds.ts';
import { PointerFields } from './pointer-fields.tsx';
import { type PointerName, type Pointers, pointerNames, pointersFrom } from './pointers.ts';

const words = allWords.form;

export interface HookFields {
  from: string | null;
  locale: string | null;
  pointers: Pointers | null;
  /** The key that the server made. */
  secret?: string;
}

interface HookFormProps {
  kind: HookKind;
  title: string;
  /** The text of the button. */
  action: string;
  before?: Hook;
  onBack?: () => void;
  onClose: () => void;
  save: (fields: HookFields) => Promise<void>;
}

/** The form for a new hook, or for changes of one. */
export function HookForm({ kind, title, action, before, onBack, onClose, save }: HookFormProps) {
  const [from, setFrom] = useState(before?.from ?? '');
  const [locale, setLocale] = useState(before?.locale ?? '');
  const [secret, setSecret] = useState('');
  const [typed, setTyped] = useState(() => typedFrom(before));
  const needsKey = makesOwnKey(kind) && before === undefined;
  const { run, busy, problem } = useAction(() =>
    save({
      from: from.trim() || null,
      locale: locale.trim() || null,
      pointers: pointersFrom(typed),
      ...(needsKey && { secret: secret.trim() }),
    }),
  );

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ 'aria-label': allWords.close }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {needsKey && (
            <TextInput
              label={words.secret}
              description={words.secretRule}
              placeholder={words.secretPlaceholder}
              autoComplete="off"
              maxLength={512}
              data-autofocus
              value={secret}
              onChange={(event) => setSecret(event.currentTarget.value)}
              error={problem?.of('secret', words.secret)}
            />
          )}
          {kind === 'generic' && <PointerFields kind={kind} typed={typed} setTyped={setTyped} problem={problem} />}
          {mayComeWithoutCode(kind) && (
            <TextInput
              label={words.from}
              description={kind === 'keycloak' ? words.fromNeeded : words.fromRule}
              placeholder={words.fromPlaceholder}
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
              error={problem?.of('from', words.from)}
            />
          )}
          <TextInput
            label={words.locale}
            description={words.localeRule}
            placeholder={words.localePlaceholder}
            value={locale}
            onChange={(event) => setLocale(event.currentTarget.value)}
            error={problem?.of('locale', words.locale)}
          />
          {kind !== 'generic' && <PointerFields kind={kind} typed={typed} setTyped={setTyped} problem={problem} />}
          <ProblemCallout problem={problem} fields={['secret', 'from', 'locale', ...pointerNames.map(fieldOf)]} />
          <Group justify="space-between">
            {onBack === undefined ? (
              <span />
            ) : (
              <Button variant="default" onClick={onBack}>
                {words.again}
              </Button>
            )}
            <Button type="submit" loading={busy}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

export const fieldOf = (name: PointerName) => `pointers.${name}`;

function typedFrom(hook: Hook | undefined): Record<PointerName, string> {
  const { to = '', code = '', text = '', locale = '', ip = '' } = hook?.pointers ?? {};
  return { to, code, text, locale, ip };
}
