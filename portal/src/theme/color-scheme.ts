import { localStorageColorSchemeManager } from '@mantine/core';

export const schemeManager = localStorageColorSchemeManager({ key: 'heliograph-color-scheme' });

/** Runs before the first paint. An inline script would run sooner, but the content security policy forbids it. */
export function applyColorScheme(): void {
  const chosen = schemeManager.get('auto');
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const scheme = chosen === 'auto' ? (dark ? 'dark' : 'light') : chosen;
  document.documentElement.dataset.mantineColorScheme = scheme;
}
