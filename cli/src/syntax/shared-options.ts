import type { Option } from './option.ts';

/** Every command takes these. */
export const sharedOptions: readonly Option[] = [
  { name: 'url', value: '<address>', summary: 'The address of the service (or HELIOGRAPH_URL)' },
  { name: 'profile', value: '<name>', summary: 'The profile to use (or HELIOGRAPH_PROFILE)' },
  { name: 'app', value: '<id or name>', summary: 'The application to use' },
  {
    name: 'api-key',
    value: '<key>',
    summary:
      'The API key; - reads it from stdin. Other users of this machine can see this option: prefer HELIOGRAPH_API_KEY',
  },
  { name: 'json', summary: 'Print JSON, for programs' },
  { name: 'no-color', summary: 'No colours (or NO_COLOR=1)' },
  { name: 'help', short: 'h', summary: 'Explain the command' },
];
