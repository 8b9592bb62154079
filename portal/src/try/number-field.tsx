import { TextInput } from '@mantine/core';
import { useId } from 'react';
import { useSession } from '../session/session.tsx';
import { testNumbers } from './test-numbers.ts';

interface NumberFieldProps {
  value: string;
  onChange: (value: string) => void;
}

export function NumberField({ value, onChange }: NumberFieldProps) {
  const { service } = useSession();
  const id = useId();
  const sandbox = service.environment === 'sandbox';
  const does = testNumbers.find(({ number }) => number === value)?.does;
  const hint = sandbox
    ? (does ?? 'Any number works: texts go to this page’s handset.')
    : 'This text goes to a real phone.';
  return (
    <>
      <TextInput
        label="To"
        description={hint}
        type="tel"
        autoComplete="off"
        placeholder="+447700900123"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        list={id}
      />
      <datalist id={id}>
        {sandbox &&
          testNumbers.map(({ number, does: label }) => (
            <option key={number} value={number} label={`${number}: ${label}`} />
          ))}
      </datalist>
    </>
  );
}
