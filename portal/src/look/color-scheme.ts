import { localStorageColorSchemeManager } from '@mantine/core';

export const schemeManager = localStorageColorSchemeManager({ key: 'heliograph-color-scheme' });

/** Before the first paint: a script in the page would do it sooner, but the content policy allows none. */
export function applyColorScheme(): void {
  const chosen = schemeManager.get('auto');
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const scheme = chosen === 'auto' ? (dark ? 'dark' : 'light') : chosen;
  document.documentElement.dataset.mantineColorScheme = scheme;
}
