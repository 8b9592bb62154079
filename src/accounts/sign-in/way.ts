export const signInWays = ['password', 'code', 'link', 'sign_up', 'invitation', 'sso'] as const;
export type SignInWay = (typeof signInWays)[number];

export const signInOutcomes = [
  'signed_in',
  // The password or the link was right, and a code must follow.
  'code_needed',
  'wrong_password',
  'wrong_code',
  // An operator without the second factor that the provider has to ask for.
  'mfa_missing',
  'account_disabled',
  'throttled',
] as const;
export type SignInOutcome = (typeof signInOutcomes)[number];
