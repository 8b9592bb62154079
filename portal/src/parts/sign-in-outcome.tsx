import type { SignInRecord } from '../api/types.ts';
import { words } from '../words/sign-ins.ts';
import { Tag } from './status.tsx';

const tones = {
  signed_in: 'good',
  code_needed: 'wait',
  wrong_password: 'bad',
  wrong_code: 'bad',
  mfa_missing: 'bad',
  account_disabled: 'bad',
  throttled: 'wait',
} as const;

/** How a sign-in ended: words and a colour. */
export function SignInOutcome({ outcome }: { outcome: SignInRecord['outcome'] }) {
  return <Tag tone={tones[outcome]}>{words.outcomes[outcome]}</Tag>;
}
