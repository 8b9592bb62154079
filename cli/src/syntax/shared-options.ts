import type { Option } from './option.ts';

/** Every command takes these. */
export const sharedOptions: readonly Option[] = [
  { name: 'url', value: '<address>', summary: 'Where the service is (or HELIOGRAPH_URL)' },
  { name: 'profile', value: '<name>', summary: 'Which of your profiles to use (or HELIOGRAPH_PROFILE)' },
  { name: 'app', value: '<id or name>', summary: 'Which of your applications' },
  {
    name: 'api-key',
    value: '<key>',
    summary:
      'The API key; - reads it from stdin. Other users of this machine can see it here: prefer HELIOGRAPH_API_KEY',
  },
  { name: 'json', summary: 'JSON on stdout, for programs' },
  { name: 'no-color', summary: 'No colours (or NO_COLOR=1)' },
  { name: 'help', short: 'h', summary: 'Explain the command' },
];
