import { PasswordInput } from '@mantine/core';
import { words } from '../words/visitor.tsx';

interface PasswordFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  /** Shows the rule for new passwords, and lets browsers suggest one. */
  isNew?: boolean;
  required?: boolean;
  autoFocus?: boolean;
}

export function PasswordField({ isNew = false, required = false, autoFocus = false, ...field }: PasswordFieldProps) {
  const { label, value, onChange, error } = field;
  return (
    <PasswordInput
      label={label}
      description={isNew ? words.password.rule : undefined}
      autoComplete={isNew ? 'new-password' : 'current-password'}
      required={required}
      autoFocus={autoFocus}
      withAsterisk={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      visibilityToggleButtonProps={{ 'aria-label': words.password.show }}
    />
  );
}
