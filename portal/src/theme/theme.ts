import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const dusk: MantineColorsTuple = [
  '#eef5f7',
  '#d9e8ec',
  '#b4d2da',
  '#8bbac6',
  '#66a3b4',
  '#468da0',
  '#2f7589',
  '#1f6074',
  '#174d5e',
  '#0f3a48',
];

const gray: MantineColorsTuple = [
  '#faf8f3',
  '#f0ede5',
  '#e4dfd3',
  '#d5cfc1',
  '#c9c2b2',
  '#a39d8f',
  '#7d7a70',
  '#585a58',
  '#3a4148',
  '#1b2530',
];

const dark: MantineColorsTuple = [
  '#e7ebec',
  '#c3ccd2',
  '#9fadb7',
  '#6f7f8b',
  '#40505c',
  '#29353e',
  '#1f2931',
  '#182027',
  '#11171c',
  '#0a0f13',
];

export const theme = createTheme({
  colors: { dusk, gray, dark },
  primaryColor: 'dusk',
  primaryShade: { light: 7, dark: 6 },
  fontFamily: "'Figtree Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Code', 'DejaVu Sans Mono', monospace",
  headings: {
    fontWeight: '680',
    sizes: {
      h1: { fontSize: '1.85rem', lineHeight: '1.15' },
      h2: { fontSize: '1.25rem', lineHeight: '1.3' },
      h3: { fontSize: '1.02rem', lineHeight: '1.35' },
    },
  },
  defaultRadius: 'md',
  radius: { xs: '4px', sm: '6px', md: '9px', lg: '14px', xl: '22px' },
  cursorType: 'pointer',
  components: {
    PasswordInput: { defaultProps: { visibilityToggleFocusable: true } },
    // For screen readers the `header` element of a dialog would be a second banner of the page.
    ModalHeader: { defaultProps: { role: 'none' } },
    DrawerHeader: { defaultProps: { role: 'none' } },
  },
  respectReducedMotion: true,
  focusRing: 'auto',
});

/** Mantine's components use our colours, which theme/base.css defines for light and dark. */
export const resolveVariables: CSSVariablesResolver = () => {
  const shared = {
    '--mantine-color-body': 'var(--paper)',
    '--mantine-color-text': 'var(--ink)',
    '--mantine-color-dimmed': 'var(--quiet)',
    '--mantine-color-placeholder': 'var(--quiet)',
    '--mantine-color-default': 'var(--surface)',
    '--mantine-color-default-hover': 'var(--sunken)',
    '--mantine-color-default-color': 'var(--ink)',
    '--mantine-color-default-border': 'var(--line-strong)',
    '--mantine-color-error': 'var(--bad)',
    '--mantine-color-anchor': 'var(--link)',
  };
  return { variables: {}, light: shared, dark: shared };
};
