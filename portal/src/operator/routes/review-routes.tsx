import { Button, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import { call, operatorPath } from '../../api/call.ts';
import type { RouteRule, RouteTable } from '../../api/operator-types.ts';
import { type Problem, toProblem } from '../../api/problem.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/routes.ts';
import type { RuleChange } from './route-diff.ts';
import { RouteEffect } from './route-effect.tsx';
import styles from './routes.module.css';
import { RuleChangeList } from './rule-change-list.tsx';

interface ReviewRoutesProps {
  latest: RouteTable;
  rules: RouteRule[];
  changes: RuleChange[];
  onClose: () => void;
  /** Called when another operator has saved first: the newest table must be loaded. */
  onOutdated: () => void;
  onSaved: () => void;
  /** Adds a rule for texts that match no other. */
  onAddRest: () => void;
}

/** Shows the changes to the newest table, and saves them over that version only. */
export function ReviewRoutes(props: ReviewRoutesProps) {
  const { latest, rules, changes, onClose, onOutdated, onSaved, onAddRest } = props;
  const showToast = useToast();
  const [outdated, setOutdated] = useState(false);
  const { run, busy, problem } = useAction(async () => {
    try {
      await call<RouteTable>('PUT', operatorPath('routes'), { body: { version: latest.version, routes: rules } });
    } catch (error) {
      if (toProblem(error).status !== 409) throw error;
      setOutdated(true);
      onOutdated();
      return;
    }
    showToast(words.review.saved);
    onSaved();
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.review.title}
      size="lg"
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack>
        {outdated && (
          <Callout tone="wait" title={words.review.outdated}>
            {words.review.outdatedDetail(latest.version)}
          </Callout>
        )}
        <RuleChangeList changes={changes} />
        {rules.length === 0 && <Callout tone="wait" title={words.review.noRules} />}
        <RouteEffect rules={rules} isFirst={latest.routes.length === 0} onAddRest={onAddRest} />
        <ProblemCallout problem={problem} />
        {problem !== undefined && <p className={styles.text}>{ruleNamesOf(problem, rules)}</p>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.review.back}
          </Button>
          <Button loading={busy} onClick={() => run()} data-autofocus>
            {words.review.save(latest.version + 1)}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The service counts rules from 0; operators know them by name. */
function ruleNamesOf({ details }: Problem, rules: RouteRule[]): string {
  const indexes = details.flatMap(({ field }) => /^routes\.(\d+)/.exec(field)?.[1] ?? []);
  const names = new Set(indexes.flatMap((index) => rules[Number(index)]?.name ?? []));
  return names.size === 0 ? '' : words.review.edit([...names].join(', '));
}
