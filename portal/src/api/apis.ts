import { words } from '../words/api.ts';
import type { ApiName } from './types.ts';

export const apis: { name: ApiName; title: string; about: string; credential: string }[] = [
  {
    name: 'sms',
    title: words.sms.title,
    about: words.sms.about,
    credential: words.sms.credential,
  },
  {
    name: 'verify',
    title: words.verify.title,
    about: words.verify.about,
    credential: words.verify.credential,
  },
  {
    name: 'messaging',
    title: words.messaging.title,
    about: words.messaging.about,
    credential: words.messaging.credential,
  },
];

export function apiTitle(name: string): string {
  return apis.find((api) => api.name === name)?.title ?? name;
}

export function planTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
