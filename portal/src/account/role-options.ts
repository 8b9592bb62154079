import type { Role } from '../api/types.ts';
import { words } from '../words/account.ts';

export const roleOptions: { value: Role; label: string }[] = [
  { value: 'viewer', label: words.roles.viewer },
  { value: 'developer', label: words.roles.developer },
  { value: 'owner', label: words.roles.owner },
];
