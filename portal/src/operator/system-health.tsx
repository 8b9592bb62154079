import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Health } from '../api/types.ts';
import { Facts } from '../parts/facts.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/operator/system-health.ts';
import { CarrierState, Troubles } from './carriers/carrier-state.tsx';
import { type Trouble, useTroubles } from './carriers/use-troubles.ts';
import styles from './operator.module.css';

const refreshMs = 5000;

export default function SystemHealth() {
  const { data, problem, reload } = useLoad<Health>('/portal/v1/operator/health', refreshMs);
  const troublesOf = useTroubles();
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {(data === undefined || troublesOf === undefined) && problem === undefined && <Skeleton height={760} />}
        {data !== undefined && troublesOf !== undefined && <Panels health={data} troublesOf={troublesOf} />}
      </Stack>
    </>
  );
}

function Panels({ health, troublesOf }: CarriersProps) {
  const isStopping = health.checks.some(({ name, ok }) => name === 'accepting' && !ok);
  return (
    <>
      {isStopping && <Callout tone="wait" title={words.ready.no} />}
      <Postgres health={health} />
      <Panel title={words.redis.title}>
        <p className={styles.line}>
          <Status state={words.redis.states[health.redis]} /> {words.redis.texts[health.redis]}
        </p>
      </Panel>
      <Panel title={words.carriers.title}>
        <Carriers health={health} troublesOf={troublesOf} />
      </Panel>
      <Queue health={health} />
      <Service health={health} />
    </>
  );
}

function Postgres({ health: { checks, postgres } }: { health: Health }) {
  const { title, facts, answer, connections } = words.postgres;
  const isOk = checks.some(({ name, ok }) => name === 'database' && ok);
  return (
    <Panel title={title}>
      <Facts
        facts={[
          [facts.state, <Status key="state" state={isOk ? words.ok : words.failed} />],
          [facts.version, postgres.version],
          [facts.answer, answer(postgres.answer_ms)],
          [facts.connections, connections(postgres.connections, postgres.most_connections)],
          ...(postgres.synchronous_standby === null ? [] : [standbyFact(postgres.synchronous_standby)]),
          ...postgres.hosts.map(hostFact),
        ]}
      />
    </Panel>
  );
}

type Fact = [name: string, value: ReactNode];

function standbyFact(isThere: boolean): Fact {
  const { facts, standby } = words.postgres;
  const { state, text } = standby[isThere ? 'there' : 'missing'];
  const value = (
    <>
      <Status state={state} /> {text}
    </>
  );
  return [facts.standby, value];
}

function hostFact({ name, state, timeline }: Health['postgres']['hosts'][number]): Fact {
  return [name, words.postgres.host(words.postgres.roles[state], timeline)];
}

function Queue({ health: { queue } }: { health: Health }) {
  const { title, facts, seconds, open } = words.queue;
  return (
    <Panel title={title} actions={<Link href="/operator/queue">{open}</Link>}>
      <Facts
        facts={[
          [facts.waiting, queue.waiting],
          [facts.sending, queue.on_the_wire],
          [facts.oldest, queue.oldest_due_seconds === null ? words.none : seconds(queue.oldest_due_seconds)],
        ]}
      />
    </Panel>
  );
}

function Service({ health }: { health: Health }) {
  const { title, facts } = words.service;
  return (
    <Panel title={title}>
      <Facts
        facts={[
          [facts.version, health.version],
          [facts.environment, health.environment],
          [facts.started, <Time key="started" at={health.started_at} />],
          [facts.nodes, <CountLink key="nodes" href="/operator/nodes" count={health.nodes.length} />],
          [facts.accounts, <CountLink key="accounts" href="/operator/accounts" count={health.accounts} />],
          [facts.applications, <CountLink key="own" href="/operator/applications" count={health.applications} />],
          [facts.pending, <CountLink key="new" href="/operator/registrations" count={health.pending_registrations} />],
        ]}
      />
    </Panel>
  );
}

function CountLink({ href, count }: { href: string; count: number }) {
  return <Link href={href}>{count.toLocaleString()}</Link>;
}

interface CarriersProps {
  health: Health;
  troublesOf: (carrier: string) => Trouble[];
}

/** Each carrier, and below it why a connection is not bound. */
function Carriers({ health: { carriers, environment }, troublesOf }: CarriersProps) {
  const { none, sandbox, production, add, bind } = words.carriers;
  if (carriers.length === 0) {
    return (
      <p className={styles.line}>
        {none} {environment === 'sandbox' ? sandbox : production} <Link href="/operator/carriers">{add}</Link>
      </p>
    );
  }
  return (
    <ul className={styles.checks}>
      {carriers.map(({ name, state, paused, binds }) => (
        <li key={name}>
          <CarrierState carrier={{ paused, state }} troubles={troublesOf(name)} />{' '}
          <Link href={`/operator/carriers/${name}`}>{name}</Link>
          <Troubles troubles={troublesOf(name)} />
          {binds.map(({ slot, error }) => error !== null && <div key={slot}>{bind(slot, error)}</div>)}
        </li>
      ))}
    </ul>
  );
}
