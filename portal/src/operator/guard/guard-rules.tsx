import { Skeleton, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { operatorPath } from '../../api/call.ts';
import type { GuardRules as Rules } from '../../api/operator-types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Tag } from '../../parts/status.tsx';
import { Table } from '../../parts/table/table.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/guard-rules.ts';
import styles from '../operator.module.css';

const refreshMs = 30_000;
const count = new Intl.NumberFormat();
const number = (title: string) => ({ title, number: true as const });
const { rule: ruleTitle, limit: limitTitle, today, week, month } = words.columns;

/** The guard's rules and their counts of blocked verifications. */
export function GuardRules() {
  const { data, problem, reload } = useLoad<Rules>(operatorPath('guard-rules'), refreshMs);
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={620} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  return (
    <Stack gap="lg">
      <Panel title={words.title} lead={words.lead}>
        <Table
          label={words.table}
          columns={[ruleTitle, limitTitle, number(today), number(week), number(month)]}
          rows={data.data.map((rule) => ({ key: rule.rule, cells: cellsOf(rule) }))}
        />
        <p className={styles.quiet}>{words.counted}</p>
      </Panel>
      <MostBlocked applications={data.applications} />
    </Stack>
  );
}

function cellsOf({ rule, limit, active, blocked_today, blocked_7_days, blocked_30_days }: Rules['data'][number]) {
  const { name, why } = words.rules[rule] ?? { name: rule, why: '' };
  return [
    <div key="rule" className={styles.why}>
      <strong>{name}</strong>
      <div className={styles.quiet}>{why}</div>
    </div>,
    active ? limitText(limit) : <Tag key="off">{words.off}</Tag>,
    ...[blocked_today, blocked_7_days, blocked_30_days].map((blocked) => count.format(blocked)),
  ];
}

function limitText(limit: Rules['data'][number]['limit']): string {
  if (limit === null) return words.none;
  if (Array.isArray(limit)) return limit.join(', ');
  return typeof limit === 'number' ? count.format(limit) : limit;
}

function MostBlocked({ applications }: { applications: Rules['applications'] }) {
  const { title, lead, table, columns, nothing, deleted } = words.applications;
  return (
    <Panel title={title} lead={lead}>
      {applications.length === 0 ? (
        <p className={styles.line}>{nothing}</p>
      ) : (
        <Table
          label={table}
          columns={[columns.application, columns.rule, number(columns.blocked)]}
          rows={applications.map(({ application_id, application_name, rule, blocked }) => ({
            key: `${application_id} ${rule}`,
            cells: [
              <Link key="application" href={`/operator/limits/${application_id}`}>
                {application_name || deleted}
              </Link>,
              words.rules[rule]?.name ?? rule,
              count.format(blocked),
            ],
          }))}
        />
      )}
    </Panel>
  );
}
