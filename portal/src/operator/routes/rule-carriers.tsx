import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core';
import { Check } from '../../parts/check.tsx';
import { Icon } from '../../parts/icon.tsx';
import { words } from '../../words/operator/routes.ts';
import styles from './routes.module.css';
import type { RuleDraft } from './rule-draft.ts';

interface WeightedCarriersProps {
  chosen: RuleDraft['carriers'];
  carriers: string[];
  onChange: (chosen: RuleDraft['carriers']) => void;
}

/** The carriers that share the texts of a rule. */
export function WeightedCarriers({ chosen, carriers, onChange }: WeightedCarriersProps) {
  const set = (index: number, changed: Partial<RuleDraft['carriers'][number]>) =>
    onChange(chosen.map((each, at) => (at === index ? { ...each, ...changed } : each)));
  return (
    <fieldset className={styles.group}>
      <legend>{words.carriers.title}</legend>
      {chosen.map(({ carrier, weight }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its index.
        <div key={index} className={styles.row}>
          <NativeSelect
            label={words.carriers.nth(index + 1)}
            data={known(carriers, carrier)}
            value={carrier}
            onChange={(event) => set(index, { carrier: event.currentTarget.value })}
          />
          <TextInput
            label={words.carriers.weight}
            aria-label={words.carriers.weightOf(carrier)}
            inputMode="numeric"
            value={weight}
            onChange={(event) => set(index, { weight: event.currentTarget.value })}
          />
          <RemoveRow what={carrier} onClick={() => onChange(chosen.filter((_, at) => at !== index))} />
        </div>
      ))}
      <AddRow
        label={words.carriers.add}
        free={carriers.filter((name) => !chosen.some(({ carrier }) => carrier === name))}
        onAdd={(carrier) => onChange([...chosen, { carrier, weight: '1' }])}
      />
    </fieldset>
  );
}

interface FailoverFieldsProps {
  draft: RuleDraft;
  carriers: string[];
  onChange: (changed: Partial<RuleDraft>) => void;
}

/** The failover carriers, in order. */
export function FailoverFields({ draft, carriers, onChange }: FailoverFieldsProps) {
  const { failover, perMinute } = draft;
  return (
    <fieldset className={styles.group}>
      <legend>{words.failover.title}</legend>
      {failover.map((carrier, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its index.
        <div key={index} className={styles.row} data-plain="">
          <NativeSelect
            label={words.failover.nth(index + 1)}
            data={known(carriers, carrier)}
            value={carrier}
            onChange={(event) => {
              const name = event.currentTarget.value;
              onChange({ failover: failover.map((each, at) => (at === index ? name : each)) });
            }}
          />
          <RemoveRow what={carrier} onClick={() => onChange({ failover: failover.filter((_, at) => at !== index) })} />
        </div>
      ))}
      <AddRow
        label={words.failover.add}
        free={carriers.filter(
          (name) => !failover.includes(name) && !draft.carriers.some((each) => each.carrier === name),
        )}
        onAdd={(carrier) => onChange({ failover: [...failover, carrier] })}
      />
      {failover.length > 0 && (
        <Check
          label={words.failover.bulk}
          description={words.failover.bulkRule}
          checked={perMinute !== null}
          onChange={(checked) => onChange({ perMinute: checked ? '60' : null })}
        />
      )}
      {failover.length > 0 && perMinute !== null && (
        <TextInput
          label={words.failover.perMinute}
          inputMode="numeric"
          maw={220}
          value={perMinute}
          onChange={(event) => onChange({ perMinute: event.currentTarget.value })}
        />
      )}
    </fieldset>
  );
}

/** A carrier that was deleted stays in the list until the operator chooses another one. */
function known(carriers: string[], chosen: string): string[] {
  return carriers.includes(chosen) ? carriers : [...carriers, chosen];
}

function RemoveRow({ what, onClick }: { what: string; onClick: () => void }) {
  return (
    <ActionIcon
      variant="default"
      size={36}
      aria-label={words.carriers.remove(what)}
      title={words.carriers.remove(what)}
      onClick={onClick}
    >
      <Icon name="cross" size={16} />
    </ActionIcon>
  );
}

function AddRow({ label, free, onAdd }: { label: string; free: string[]; onAdd: (carrier: string) => void }) {
  const [first] = free;
  if (first === undefined) return null;
  return (
    <div>
      <Button variant="default" size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => onAdd(first)}>
        {label}
      </Button>
    </div>
  );
}
