import { PasswordInput } from '@mantine/core';

interface PasswordFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  /** A new password shows what makes a good one; browsers then offer to make one up. */
  isNew?: boolean;
  required?: boolean;
}

export function PasswordField({ label, value, onChange, error, isNew = false, required = false }: PasswordFieldProps) {
  return (
    <PasswordInput
      label={label}
      description={isNew ? 'At least 8 characters; a sentence of 15 or more is better.' : undefined}
      autoComplete={isNew ? 'new-password' : 'current-password'}
      required={required}
      withAsterisk={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
    />
  );
}
