import { localStorageColorSchemeManager } from '@mantine/core';

export const schemeManager = localStorageColorSchemeManager({ key: 'heliograph-color-scheme' });

/** Runs before the first paint. The content security policy allows no inline script, which would run sooner. */
export function applyColorScheme(): void {
  const chosen = schemeManager.get('auto');
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const scheme = chosen === 'auto' ? (dark ? 'dark' : 'light') : chosen;
  document.documentElement.dataset.mantineColorScheme = scheme;
}
