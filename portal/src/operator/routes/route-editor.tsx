import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import type { RouteExplanation, RouteTable } from '../../api/operator-types.ts';
import { Icon } from '../../parts/icon.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { usePageState } from '../../session/page-state.ts';
import { words } from '../../words/operator/routes.ts';
import { ExplainPanel } from './explain-panel.tsx';
import { ReviewRoutes } from './review-routes.tsx';
import { diffRoutes } from './route-diff.ts';
import styles from './routes.module.css';
import {
  type DraftRule,
  newRule,
  type RoutesDraft,
  rulesOf,
  toRoutesDraft,
  withMoved,
  withoutRule,
  withRest,
  withRule,
} from './routes-draft.ts';
import { RuleCard } from './rule-card.tsx';
import { RuleDrawer } from './rule-drawer.tsx';

interface RouteEditorProps {
  latest: RouteTable;
  carriers: string[];
  onSaved: () => void;
}

/** The ordered list with the operator's changes, with the explain panel beside it. */
export function RouteEditor({ latest, carriers, onSaved }: RouteEditorProps) {
  const [kept, updateKept] = usePageState<RoutesDraft | null>('routes-draft', null);
  const [fresh, setFresh] = useState(() => toRoutesDraft(latest));
  const [edited, setEdited] = useState<DraftRule | undefined>(undefined);
  const [reviewing, setReviewing] = useState(false);
  const [explained, setExplained] = useState<RouteExplanation | undefined>(undefined);
  // Without changes of their own, operators see the newest table.
  if (kept === null && fresh.version !== latest.version) setFresh(toRoutesDraft(latest));
  const draft = kept ?? fresh;
  const change = (next: RoutesDraft) => updateKept(() => next);
  const changes = diffRoutes(latest.routes, rulesOf(draft));

  function add(): void {
    setEdited({ key: crypto.randomUUID(), rule: newRule(carriers) });
  }

  function discard(): void {
    setFresh(toRoutesDraft(latest));
    updateKept(() => null);
  }

  const addButton = (
    <Button variant="default" leftSection={<Icon name="plus" />} onClick={add}>
      {words.rules.add}
    </Button>
  );
  return (
    <div className={styles.page}>
      <Stack>
        {kept !== null && kept.version !== latest.version && (
          <Callout tone="wait" title={words.rules.outdated(latest.version)}>
            {words.rules.outdatedDetail}
          </Callout>
        )}
        {draft.rules.length === 0 ? (
          <EmptyState title={words.rules.none} action={addButton}>
            {words.rules.noneNext}
          </EmptyState>
        ) : (
          <ol className={styles.rules}>
            {draft.rules.map((each, index) => (
              <RuleCard
                key={each.key}
                rule={each.rule}
                position={index + 1}
                count={draft.rules.length}
                matching={explained?.rule?.name === each.rule.name}
                onEdit={() => setEdited(each)}
                onMove={(by) => change(withMoved(draft, index, by))}
                onRemove={() => change(withoutRule(draft, each.key))}
              />
            ))}
          </ol>
        )}
        <div className={styles.bar}>
          {draft.rules.length > 0 && addButton}
          {changes.length > 0 && (
            <Group>
              <Button variant="default" onClick={discard}>
                {words.rules.discard}
              </Button>
              <Button onClick={() => setReviewing(true)}>{words.rules.review(changes.length)}</Button>
            </Group>
          )}
        </div>
      </Stack>
      <div className={styles.explain}>
        <ExplainPanel draft={changes.length > 0 ? rulesOf(draft) : undefined} onExplained={setExplained} />
      </div>
      {edited !== undefined && (
        <RuleDrawer
          key={edited.key}
          rule={edited.rule}
          carriers={carriers}
          taken={draft.rules.filter(({ key }) => key !== edited.key).map(({ rule }) => rule.name)}
          onClose={() => setEdited(undefined)}
          onDone={(rule) => {
            change(withRule(draft, { ...edited, rule }));
            setEdited(undefined);
          }}
        />
      )}
      {reviewing && (
        <ReviewRoutes
          latest={latest}
          rules={rulesOf(draft)}
          changes={changes}
          onClose={() => setReviewing(false)}
          onOutdated={onSaved}
          onAddRest={() => change(withRest(draft, carriers))}
          onSaved={() => {
            setReviewing(false);
            updateKept(() => null);
            onSaved();
          }}
        />
      )}
    </div>
  );
}
