import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { useParams } from 'wouter';
import { operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { useSession } from '../../session/session.tsx';
import { AddCarrier } from './add-carrier.tsx';
import { CarrierCard } from './carrier-card.tsx';
import { CarrierPage } from './carrier-page.tsx';
import styles from './carriers.module.css';
import { useToday } from './use-today.ts';

const refreshMs = 2000;

export default function Carriers() {
  const { name } = useParams<{ name?: string }>();
  return name === undefined ? <CarrierList /> : <CarrierPage key={name} name={name} />;
}

function CarrierList() {
  const { service } = useSession();
  const { data, problem, reload, showMore } = useList<Carrier>(operatorPath('carriers'), refreshMs);
  const today = useToday();
  const [adding, setAdding] = useState(false);
  const add = (
    <Button leftSection={<Icon name="plus" />} onClick={() => setAdding(true)}>
      Add a carrier
    </Button>
  );
  return (
    <>
      <PageTitle
        lead="The accounts that texts leave by. A change acts on every node within 2 seconds."
        actions={data?.length ? add : undefined}
      >
        Carriers
      </PageTitle>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title="No carrier yet" action={add}>
            {service.environment === 'sandbox'
              ? 'Texts go to the virtual handsets. To try a carrier without an account, start the virtual SMSC with npm run smsc.'
              : 'Every text is refused until you add one.'}
          </EmptyState>
        )}
        <ul className={styles.list}>
          {data?.map((carrier) => (
            <li key={carrier.name}>
              <CarrierCard carrier={carrier} today={today.get(carrier.name)} onChange={reload} />
            </li>
          ))}
        </ul>
        {showMore && (
          <Button variant="default" onClick={showMore}>
            Show more
          </Button>
        )}
      </Stack>
      <AddCarrier opened={adding} onClose={() => setAdding(false)} />
    </>
  );
}
