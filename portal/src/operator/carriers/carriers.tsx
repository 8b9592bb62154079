import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { useParams } from 'wouter';
import { operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import { Icon } from '../../parts/icon.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { useSession } from '../../session/session.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/carriers.ts';
import { AddCarrier } from './add-carrier.tsx';
import { CarrierCard } from './carrier-card.tsx';
import { CarrierPage } from './carrier-page.tsx';
import styles from './carriers.module.css';
import { useToday } from './use-today.ts';
import { useTroubles } from './use-troubles.ts';

const refreshMs = 2000;

export default function Carriers() {
  const { name } = useParams<{ name?: string }>();
  return name === undefined ? <CarrierList /> : <CarrierPage key={name} name={name} />;
}

function CarrierList() {
  const { service } = useSession();
  const { data, problem, reload, showMore } = useList<Carrier>(operatorPath('carriers'), refreshMs);
  const today = useToday();
  const troublesOf = useTroubles();
  const shown = troublesOf && data;
  const [adding, setAdding] = useState(false);
  const add = (
    <Button leftSection={<Icon name="plus" />} onClick={() => setAdding(true)}>
      {words.add.title}
    </Button>
  );
  return (
    <>
      <PageTitle lead={words.lead} actions={data?.length ? add : undefined}>
        {words.title}
      </PageTitle>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {shown === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title={words.none.title} action={add}>
            {service.environment === 'sandbox' ? words.none.sandbox : words.none.production}
          </EmptyState>
        )}
        <ul className={styles.list}>
          {shown?.map((carrier) => (
            <li key={carrier.name}>
              <CarrierCard
                carrier={carrier}
                today={today.get(carrier.name)}
                troubles={troublesOf?.(carrier.name) ?? []}
                onChange={reload}
              />
            </li>
          ))}
        </ul>
        {showMore && (
          <Button variant="default" onClick={showMore}>
            {words.more}
          </Button>
        )}
      </Stack>
      <AddCarrier opened={adding} onClose={() => setAdding(false)} />
    </>
  );
}
