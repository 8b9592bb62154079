/** Sign-ins, failed and successful: a person's own, and those of everyone for operators. */
export const words = {
  own: {
    title: 'Recent sign-ins',
    lead: 'Sign-ins with your email, failed and successful, of the last 90 days. If you do not recognize one, change your password.',
  },
  title: 'Sign-ins',
  lead: 'Who signed in or tried to, with the address it came from, in the last 90 days.',
  columns: { time: 'Time', outcome: 'Outcome', way: 'By', address: 'Address', email: 'Email' },
  fields: {
    email: { label: 'Email', example: 'you@example.com' },
    address: { label: 'Address', example: '203.0.113.9' },
  },
  outcomes: {
    signed_in: 'signed in',
    code_needed: 'asked for a code',
    wrong_password: 'wrong password',
    wrong_code: 'wrong code',
    mfa_missing: 'no second factor',
    account_disabled: 'account disabled',
    throttled: 'too many tries',
  },
  ways: {
    password: 'password',
    code: 'second factor',
    link: 'one-time link',
    sign_up: 'sign-up',
    invitation: 'invitation',
    sso: 'single sign-on',
  },
  unknown: 'no account',
  nothing: { title: 'No sign-ins', text: 'Try another email or address.' },
};
