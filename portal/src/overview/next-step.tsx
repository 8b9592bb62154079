import { Button } from '@mantine/core';
import { Link } from 'wouter';
import type { ApplicationDetail } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { useCanChange } from '../session/role.ts';
import { useSession } from '../session/session.tsx';
import { words as allWords } from '../words/overview.ts';
import { words as roleWords } from '../words/role.ts';
import styles from './overview.module.css';

const words = allWords.nextStep;

interface Step {
  title: string;
  text: string;
  /** The one primary button of the page. Without an address, it starts the registration. */
  action?: { label: string; href?: string };
}

/** `onStart` opens the plans of the first API. */
export function NextStep({ application, onStart }: { application: ApplicationDetail; onStart: () => void }) {
  const { service } = useSession();
  const canChange = useCanChange();
  const { title, text, action }: Step = canChange
    ? nextStep(application, service.environment === 'sandbox')
    : { title: roleWords.title, text: roleWords.askForRole };
  return (
    <section className={styles.next} aria-label={words.label}>
      <div>
        <h2>{title}</h2>
        <p>{text}</p>
      </div>
      {action !== undefined && action.href === undefined && <Button onClick={onStart}>{action.label}</Button>}
      {action?.href !== undefined && (
        <Button component={Link} href={action.href} rightSection={<Icon name="arrow" size={16} />}>
          {action.label}
        </Button>
      )}
    </section>
  );
}

function nextStep({ id, registrations }: ApplicationDetail, sandbox: boolean): Step {
  const { choose, rejected, waiting, ready } = words;
  if (registrations.length === 0) {
    return {
      title: choose.title,
      text: sandbox ? choose.sandbox : choose.production,
      action: { label: choose.action },
    };
  }
  if (registrations.every(({ status }) => status === 'rejected')) return rejected;
  if (!registrations.some(({ status }) => status === 'approved')) {
    return { title: waiting.title, text: waiting.text, action: { label: waiting.action, href: '/docs' } };
  }
  return {
    title: ready.title,
    text: sandbox ? ready.sandbox : ready.production,
    action: { label: ready.action, href: `/applications/${id}/try` },
  };
}
