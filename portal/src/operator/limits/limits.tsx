import { Button, Stack } from '@mantine/core';
import { Link, useLocation, useParams } from 'wouter';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { words } from '../../words/operator/limits.ts';
import { ApplicationField } from '../application-field.tsx';
import styles from '../operator.module.css';
import { ApplicationLimits } from './application-limits.tsx';

export default function Limits() {
  const { id } = useParams<{ id?: string }>();
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <FindApplication id={id} />
        {id !== undefined && <ApplicationLimits key={id} id={id} />}
        <Plans />
      </Stack>
    </>
  );
}

function FindApplication({ id = '' }: { id: string | undefined }) {
  const [, navigate] = useLocation();
  return (
    <div className={styles.chooser}>
      <ApplicationField
        value={id}
        onChange={(chosen) => navigate(chosen === '' ? '/operator/limits' : `/operator/limits/${chosen}`)}
      />
    </div>
  );
}

function Plans() {
  return (
    <Panel
      title={words.plans}
      lead={words.plansLead}
      actions={
        <Button component={Link} href="/operator/plans" variant="default" size="sm">
          {words.openPlans}
        </Button>
      }
    />
  );
}
