import { NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import type { Problem } from '../../api/problem.ts';
import { Check } from '../../parts/check.tsx';
import { words } from '../../words/operator/carriers.ts';
import styles from './carriers.module.css';
import type { SettingField, SettingGroup } from './setting-fields.ts';
import type { SettingsDraft } from './settings-draft.ts';

interface SettingsFormProps {
  groups: SettingGroup[];
  draft: SettingsDraft;
  onChange: (draft: SettingsDraft) => void;
  problem: Problem | undefined;
  /** Names of stored secrets; an empty field keeps them. */
  kept: string[];
  /** Stored secrets to enter again, because they would be sent to a new address. */
  again?: string[];
}

/** The settings of a carrier, in the groups of its kind. */
export function SettingsForm({ groups, draft, onChange, problem, kept, again = [] }: SettingsFormProps) {
  const set = (name: string, value: string | boolean) =>
    onChange({ ...draft, values: { ...draft.values, [name]: value } });
  const isAsked = ({ onlyWith }: SettingField) => onlyWith === undefined || draft.values[onlyWith] === true;
  return (
    <Stack gap="lg">
      {groups.map(({ title, fields }) => (
        <fieldset key={title} className={styles.group}>
          <legend>{title}</legend>
          <div className={styles.fields}>
            {fields.filter(isAsked).map((field) => (
              <Field
                key={field.name}
                field={field}
                value={draft.values[field.name] ?? ''}
                isKept={kept.includes(field.name) && !again.includes(field.name)}
                error={
                  again.includes(field.name)
                    ? words.settings.secretAgain
                    : problem?.of(`settings.${field.name}`, field.label)
                }
                onChange={(value) => set(field.name, value)}
              />
            ))}
          </div>
        </fieldset>
      ))}
      <details>
        <summary>{words.settings.rest}</summary>
        <Textarea
          label={words.settings.json}
          description={words.settings.jsonRule}
          className={styles.json ?? ''}
          mt="sm"
          rows={Math.min(18, draft.rest.split('\n').length + 1)}
          spellCheck={false}
          value={draft.rest}
          onChange={(event) => onChange({ ...draft, rest: event.currentTarget.value })}
        />
      </details>
    </Stack>
  );
}

/** A description above would push its input out of line with the others of the row. */
const belowInput: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

interface FieldProps {
  field: SettingField;
  value: string | boolean;
  isKept: boolean;
  error: string | undefined;
  onChange: (value: string | boolean) => void;
}

function Field({ field, value, isKept, error, onChange }: FieldProps) {
  const { type, label, description, choices = [] } = field;
  if (typeof value === 'boolean') {
    return <Check label={label} {...(description && { description })} checked={value} onChange={onChange} />;
  }
  const shared = {
    label,
    value,
    error,
    inputWrapperOrder: belowInput,
    description: isKept ? words.settings.secretKept : description,
    placeholder: isKept ? '••••••••' : field.placeholder,
  };
  const take = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  if (type === 'choice') return <NativeSelect {...shared} data={choices} onChange={take} />;
  if (type === 'lines' || type === 'json')
    return <Textarea {...shared} rows={type === 'json' ? 10 : 4} className={styles.json ?? ''} onChange={take} />;
  if (type === 'secret') return <TextInput {...shared} type="password" autoComplete="new-password" onChange={take} />;
  return <TextInput {...shared} inputMode={type === 'number' ? 'decimal' : undefined} onChange={take} />;
}

/** Fields that show the service's error beside their input. */
export function shownFields(groups: SettingGroup[]): string[] {
  return groups.flatMap(({ fields }) => fields.map(({ name }) => `settings.${name}`));
}
