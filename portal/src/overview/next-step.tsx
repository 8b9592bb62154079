import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { applicationPath } from '../api/call.ts';
import type { RecordTotal } from '../api/record-types.ts';
import type { ApplicationDetail } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { useCanChange } from '../session/role.ts';
import { useSession } from '../session/session.tsx';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/overview.ts';
import { words as roleWords } from '../words/role.ts';
import styles from './overview.module.css';

const words = allWords.nextStep;
const refreshMs = 10_000;

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
  const isUsed = useIsUsed(application.id);
  const { title, text, action }: Step = canChange
    ? nextStep(application, service.environment === 'sandbox', isUsed === true)
    : { title: roleWords.title, text: roleWords.askForRole };
  // Invisible until it is known what to say, but it already takes its space.
  return (
    <section className={styles.next} aria-label={words.label} data-unknown={isUsed === undefined || undefined}>
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

/** Whether the application has sent or verified anything; undefined until it is known. */
function useIsUsed(applicationId: string): boolean | undefined {
  const messages = useLoad<RecordTotal>(applicationPath(applicationId, '/messages/total'), refreshMs);
  const verifications = useLoad<RecordTotal>(applicationPath(applicationId, '/verifications/total'), refreshMs);
  const counts = [messages, verifications].map(({ data, problem }) => (problem === undefined ? data?.total : 0));
  if (counts.some((count) => count !== undefined && count > 0)) return true;
  return counts.includes(undefined) ? undefined : false;
}

function nextStep({ id, registrations }: ApplicationDetail, sandbox: boolean, isUsed: boolean): Step {
  const { choose, rejected, waiting, ready, used } = words;
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
  if (isUsed) {
    return { title: used.title, text: used.text, action: { label: used.action, href: `/applications/${id}/messages` } };
  }
  return {
    title: ready.title,
    text: sandbox ? ready.sandbox : ready.production,
    action: { label: ready.action, href: `/applications/${id}/try` },
  };
}
