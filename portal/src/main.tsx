import '@fontsource-variable/figtree';
import './look/mantine.css';
import './look/base.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyColorScheme, schemeManager } from './look/color-scheme.ts';
import { resolveVariables, theme } from './look/theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root.');

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
