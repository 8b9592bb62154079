import { Button, Drawer, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { apis } from '../../api/apis.ts';
import type { RouteRule } from '../../api/operator-types.ts';
import { Check } from '../../parts/check.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { words } from '../../words/operator/routes.ts';
import { ApplicationsField } from '../application-field.tsx';
import styles from './routes.module.css';
import { FailoverFields, WeightedCarriers } from './rule-carriers.tsx';
import { fromRuleDraft, listed, ruleProblem, toRuleDraft } from './rule-draft.ts';
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
  { field: 'countries', label: words.rule.countries, placeholder: words.rule.countriesExample },
  { field: 'prefixes', label: words.rule.prefixes, placeholder: '+4477, +4478' },
  { field: 'senders', label: words.rule.senders, placeholder: words.rule.sendersExample },
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
      title={rule.name === '' ? words.rules.add : words.rule.edit(rule.name)}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="lg">
          <TextInput
            label={words.rule.name}
            placeholder={words.rule.nameExample}
            data-autofocus
            value={draft.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <fieldset className={styles.group}>
            <legend>{words.rule.which}</legend>
            <div className={styles.fields}>
              {lists.map(({ field, label, placeholder }) => (
                <TextInput
                  key={field}
                  label={label}
                  description={words.rule.empty}
                  placeholder={placeholder}
                  value={draft[field]}
                  onChange={(event) => set({ [field]: event.currentTarget.value })}
                />
              ))}
              <ApplicationsField
                description={words.rule.empty}
                value={listed(draft.applications)}
                onChange={(ids) => set({ applications: ids.join(', ') })}
              />
            </div>
            <p className={styles.text}>{words.rule.apis}</p>
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
            label={words.rule.from}
            description={words.rule.fromRule}
            value={draft.from}
            onChange={(event) => set({ from: event.currentTarget.value })}
          />
          <HoursFields hours={draft.hours} onChange={(hours) => set({ hours })} />
          {problem !== undefined && <Callout tone="bad" title={problem} />}
          <Button type="submit">{words.rule.done}</Button>
        </Stack>
      </form>
    </Drawer>
  );
}
