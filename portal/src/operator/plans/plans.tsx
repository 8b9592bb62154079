import { Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { planTitle } from '../../api/apis.ts';
import { call, operatorPath } from '../../api/call.ts';
import type { LimitedPlan, PlanVersion } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction } from '../../session/use-action.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/plans.ts';
import styles from '../operator.module.css';

const count = new Intl.NumberFormat();
const { fields } = words;
type Field = keyof typeof fields;
const names = Object.keys(fields) as Field[];

export default function Plans() {
  const { data, problem, reload } = useLoad<Page<LimitedPlan>>(operatorPath('plans'));
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={520} />}
        {data?.data.map((plan) => (
          <Plan key={`${plan.plan} ${plan.version}`} plan={plan} onChanged={reload} />
        ))}
      </Stack>
    </>
  );
}

function Plan({ plan, onChanged }: { plan: LimitedPlan; onChanged: () => void }) {
  const showToast = useToast();
  const before = Object.fromEntries(names.map((name) => [name, String(plan[name] ?? '')])) as Record<Field, string>;
  const [typed, setTyped] = useState(before);
  const title = planTitle(plan.plan);
  const { run, busy, problem } = useAction(async () => {
    const numbers = Object.fromEntries(names.map((name) => [name, toNumber(typed[name])]));
    await call('PUT', operatorPath(`plans/${plan.plan}`), { body: { version: plan.version, ...numbers } });
    showToast(words.saved(title));
    onChanged();
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Panel title={title} lead={plan.version === 0 ? words.fromSettings : words.version(plan.version)}>
      <Stack>
        <form className={styles.search} onSubmit={submit} noValidate>
          {names.map((name) => (
            <TextInput
              key={name}
              label={fields[name]}
              aria-label={words.fieldOf(title, fields[name])}
              placeholder={name === 'segments_per_day' ? words.noLimit : ''}
              inputMode="numeric"
              value={typed[name]}
              onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value.trim() })}
              error={problem?.of(name, words.it)}
            />
          ))}
          <Button
            type="submit"
            variant="default"
            loading={busy}
            disabled={names.every((name) => typed[name] === before[name])}
            aria-label={words.saveOf(title)}
          >
            {words.save}
          </Button>
        </form>
        <ProblemCallout problem={problem} fields={names} />
        {plan.version > 0 && <Versions plan={plan.plan} />}
      </Stack>
    </Panel>
  );
}

function Versions({ plan }: { plan: string }) {
  const { data } = useLoad<Page<PlanVersion>>(operatorPath(`plans/${plan}/versions`));
  if (data === undefined) return <Skeleton height={90} />;
  return (
    <Table
      label={words.versions(planTitle(plan))}
      columns={[words.columns.version, ...Object.values(fields), words.columns.saved, words.columns.by]}
      rows={data.data.map((each) => ({
        key: String(each.version),
        cells: [
          each.version,
          count.format(each.per_minute),
          count.format(each.burst),
          each.segments_per_day === null ? words.noLimit : count.format(each.segments_per_day),
          <Time key="saved" at={each.created_at} />,
          each.created_by,
        ],
      }))}
    />
  );
}

/** An empty field means no limit. An invalid number is sent as typed: the service explains the error. */
function toNumber(typed: string): number | string | null {
  if (typed === '') return null;
  const number = Number(typed.replaceAll(/[,\s]/g, ''));
  return Number.isFinite(number) ? number : typed;
}
