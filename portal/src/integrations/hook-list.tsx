import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Hook } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { words as allWords } from '../words/integrations.tsx';
import { AddHook } from './add-hook.tsx';
import styles from './integrations.module.css';
import { KindChoice } from './kind-choice.tsx';
import type { HookKind } from './kinds.ts';

const words = allWords.list;
const mostHooks = 10;

/** The hooks of an application. Without any, the servers to choose from. */
export function HookList({ applicationId, hooks }: { applicationId: string; hooks: Hook[] }) {
  const canChange = useCanChange();
  const [adding, setAdding] = useState<HookKind | 'any'>();
  const isFull = hooks.length >= mostHooks;
  const add = canChange && hooks.length > 0 && (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      disabled={isFull}
      title={isFull ? words.allUsed : undefined}
      onClick={() => setAdding('any')}
    >
      {words.add}
    </Button>
  );
  return (
    <Panel title={words.title} lead={words.lead} actions={add || undefined}>
      {hooks.length > 0 ? (
        <Hooks applicationId={applicationId} hooks={hooks} />
      ) : canChange ? (
        <>
          <KindChoice onChoose={setAdding} />
          <p className={styles.hint}>{words.twilioHint}</p>
        </>
      ) : (
        <EmptyState title={words.none}>{words.noneForViewer}</EmptyState>
      )}
      {adding !== undefined && (
        <AddHook
          applicationId={applicationId}
          kind={adding === 'any' ? undefined : adding}
          onClose={() => setAdding(undefined)}
        />
      )}
    </Panel>
  );
}

function Hooks({ applicationId, hooks }: { applicationId: string; hooks: Hook[] }) {
  return (
    <ul className={styles.list} aria-label={words.title}>
      {hooks.map(({ id, kind, from, locale, created_at }) => (
        <li key={id}>
          <Link href={`/applications/${applicationId}/integrations/${id}`} className={styles.item ?? ''}>
            <span className={styles.name}>
              <strong>{allWords.kinds[kind].title}</strong>
              <code className={styles.quiet}>{id}</code>
            </span>
            <span className={styles.quiet}>{[from, locale].filter((each) => each !== null).join(' · ')}</span>
            <span className={styles.quiet}>
              {words.created} <Time at={created_at} />
            </span>
            <Icon name="arrow" size={16} />
          </Link>
        </li>
      ))}
    </ul>
  );
}
