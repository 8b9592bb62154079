import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { words } from '../words/parts.tsx';
import { Icon } from './icon.tsx';

export function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  const label = words.colours(other);
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      c="var(--ink)"
      size="lg"
      aria-label={label}
      title={label}
      onClick={() => setColorScheme(other)}
    >
      <Icon name={other === 'dark' ? 'moon' : 'sun'} />
    </ActionIcon>
  );
}
