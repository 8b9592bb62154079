import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useId } from 'react';
import { useSession } from '../session/session.tsx';
import { words } from '../words/try.tsx';
import { testNumbers } from './test-numbers.ts';
import styles from './try-it.module.css';

interface NumberFieldProps {
  value: string;
  onChange: (value: string) => void;
  /** Replaces the description of what the number does. */
  hint?: string;
  error?: string | undefined;
}

export function NumberField({ value, onChange, hint, error }: NumberFieldProps) {
  const { service } = useSession();
  const id = useId();
  const sandbox = service.environment === 'sandbox';
  const does = testNumbers.find(({ number }) => number === value)?.does;
  const usual = sandbox ? (does ?? words.form.anyNumber) : words.form.realPhone;
  return (
    <Stack gap="xs" className={styles.number}>
      <TextInput
        label={words.form.to}
        description={hint ?? usual}
        type="tel"
        autoComplete="off"
        placeholder="+447700900123"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        list={id}
        error={error}
      />
      {sandbox && <Scenarios value={value} onChange={onChange} />}
      <datalist id={id}>
        {sandbox &&
          testNumbers.map(({ number, does: label }) => (
            <option key={number} value={number} label={`${number}: ${label}`} />
          ))}
      </datalist>
    </Stack>
  );
}

/** The test numbers by outcome; the field describes the chosen one. */
function Scenarios({ value, onChange }: Pick<NumberFieldProps, 'value' | 'onChange'>) {
  return (
    <Group gap={6} role="group" aria-label={words.form.testNumbers}>
      {testNumbers.map(
        ({ number, does, scenario }) =>
          scenario !== undefined && (
            <Button
              key={number}
              size="xs"
              variant={number === value ? 'light' : 'default'}
              aria-pressed={number === value}
              title={`${number}: ${does}`}
              onClick={() => onChange(number)}
            >
              {scenario}
            </Button>
          ),
      )}
    </Group>
  );
}
