import '@fontsource-variable/figtree';
import './theme/mantine.css';
import './theme/base.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyColorScheme, schemeManager } from './theme/color-scheme.ts';
import { resolveVariables, theme } from './theme/theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id root.');

applyColorScheme();
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      withGlobalClasses={false}
    >
      <App />
    </MantineProvider>
  </StrictMode>,
);
