import { Button, Drawer, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { apis } from '../../api/apis.ts';
import type { RouteRule } from '../../api/operator-types.ts';
import { Callout } from '../../parts/callout.tsx';
import { Check } from '../../parts/check.tsx';
import styles from './routes.module.css';
import { FailoverFields, WeightedCarriers } from './rule-carriers.tsx';
import { fromRuleDraft, ruleProblem, toRuleDraft } from './rule-draft.ts';
import { HoursFields } from './rule-hours.tsx';

interface RuleDrawerProps {
  rule: RouteRule;
  carriers: string[];
  /** Names of the other rules. */
  taken: string[];
  onClose: () => void;
  onDone: (rule: RouteRule) => void;
}

const lists = [
  { field: 'countries', label: 'Countries', placeholder: 'GB, FR' },
  { field: 'prefixes', label: 'Prefixes of numbers', placeholder: '+4477, +4478' },
  { field: 'senders', label: 'Senders', placeholder: 'ACME' },
  { field: 'applications', label: 'Applications', placeholder: 'app_…' },
] as const;

/** Edits one rule of the draft. Nothing is saved before the review. */
export function RuleDrawer({ rule, carriers, taken, onClose, onDone }: RuleDrawerProps) {
  const [draft, setDraft] = useState(() => toRuleDraft(rule));
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const set = (changed: Partial<typeof draft>) => setDraft({ ...draft, ...changed });

  function submit(event: FormEvent): void {
    event.preventDefault();
    const found = ruleProblem(draft, taken);
    setProblem(found);
    if (found === undefined) onDone(fromRuleDraft(draft));
  }

  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={rule.name === '' ? 'Add a rule' : `Edit ${rule.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="lg">
          <TextInput
            label="Name"
            placeholder="uk"
            data-autofocus
            value={draft.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <fieldset className={styles.group}>
            <legend>Which texts</legend>
            <div className={styles.fields}>
              {lists.map(({ field, label, placeholder }) => (
                <TextInput
                  key={field}
                  label={label}
                  description="Empty means any"
                  placeholder={placeholder}
                  value={draft[field]}
                  onChange={(event) => set({ [field]: event.currentTarget.value })}
                />
              ))}
            </div>
            <p className={styles.text}>Of these APIs. Without a tick, of all of them.</p>
            <div className={styles.checks}>
              {apis.map(({ name, title }) => (
                <Check
                  key={name}
                  label={title}
                  checked={draft.apis.includes(name)}
                  onChange={(checked) =>
                    set({ apis: checked ? [...draft.apis, name] : draft.apis.filter((each) => each !== name) })
                  }
                />
              ))}
            </div>
          </fieldset>
          <WeightedCarriers
            chosen={draft.carriers}
            carriers={carriers}
            onChange={(chosen) => set({ carriers: chosen })}
          />
          <FailoverFields draft={draft} carriers={carriers} onChange={set} />
          <TextInput
            label="Sent as"
            description="Replaces the sender of every text. Empty leaves it."
            value={draft.from}
            onChange={(event) => set({ from: event.currentTarget.value })}
          />
          <HoursFields hours={draft.hours} onChange={(hours) => set({ hours })} />
          {problem !== undefined && <Callout tone="bad" title={problem} />}
          <Button type="submit">Done</Button>
        </Stack>
      </form>
    </Drawer>
  );
}
