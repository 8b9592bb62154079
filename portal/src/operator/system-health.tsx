import { Skeleton, Stack } from '@mantine/core';
import { Link } from 'wouter';
import type { Health } from '../api/types.ts';
import { useLoad } from '../api/use-load.ts';
import { Facts } from '../parts/facts.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import styles from './operator.module.css';

const refreshMs = 5000;

export default function SystemHealth() {
  const { data, problem, reload } = useLoad<Health>('/portal/v1/operator/health', refreshMs);
  return (
    <>
      <PageTitle lead="Updated every 5 seconds.">System health</PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={300} />}
        {data !== undefined && <Panels health={data} />}
      </Stack>
    </>
  );
}

function Panels({ health }: { health: Health }) {
  const { queue } = health;
  return (
    <>
      <Panel title="Checks">
        <ul className={styles.checks}>
          {health.checks.map(({ name, ok }) => (
            <li key={name}>
              <Status state={ok ? 'ok' : 'failed'} /> {name}
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title="Delivery queue">
        <Facts
          facts={[
            ['Waiting', queue.waiting],
            ['Sending', queue.on_the_wire],
            ['Oldest has waited', queue.oldest_due_seconds === null ? '–' : `${queue.oldest_due_seconds} s`],
          ]}
        />
      </Panel>
      <Panel title="Carriers">
        <Carriers health={health} />
      </Panel>
      <Panel title="Service">
        <Facts
          facts={[
            ['Version', health.version],
            ['Environment', health.environment],
            ['Started', <Time key="started" at={health.started_at} />],
            ['Accounts', health.accounts],
            ['Applications', health.applications],
            [
              'Pending registrations',
              <Link key="waiting" href="/operator/registrations">
                {health.pending_registrations}
              </Link>,
            ],
          ]}
        />
      </Panel>
      <Panel title="Nodes">
        <ul className={styles.checks}>
          {health.nodes.map(({ id, seen_at }) => (
            <li key={id}>
              <code>{id}</code> last seen <Time at={seen_at} />
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}

/** Each carrier, and below it why a connection is not bound. */
function Carriers({ health: { carriers, environment } }: { health: Health }) {
  if (carriers.length === 0) {
    const without = environment === 'sandbox' ? 'Texts go to the virtual handsets.' : 'Every text is refused.';
    return <p>No carrier is connected. {without}</p>;
  }
  return (
    <ul className={styles.checks}>
      {carriers.map(({ name, state, paused, binds }) => (
        <li key={name}>
          <Status state={paused ? 'paused' : state.replace('_', ' ')} />{' '}
          <Link href={`/operator/carriers/${name}`}>{name}</Link>
          {binds
            .filter(({ error }) => error !== null)
            .map(({ slot, error }) => (
              <div key={slot}>
                Bind {slot}: {error}
              </div>
            ))}
        </li>
      ))}
    </ul>
  );
}
