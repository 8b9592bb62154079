import type { ApiName } from './types.ts';

export const apis: { name: ApiName; title: string; about: string; credential: string }[] = [
  {
    name: 'sms',
    title: 'SMS Messaging',
    about: 'Send a text to a number with one call.',
    credential: 'Needs an API key in the apikey header',
  },
  {
    name: 'verify',
    title: 'Verification',
    about: 'Send a one-time code to a number and check it.',
    credential: 'Needs a token with the scope verify:manage',
  },
  {
    name: 'messaging',
    title: 'Messaging',
    about: 'Send up to 100 texts in one call.',
    credential: 'Needs a token with the scope messaging:send',
  },
];

export function apiTitle(name: string): string {
  return apis.find((api) => api.name === name)?.title ?? name;
}

export function planTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
