/** Single sign-on: its button, what went wrong, and how an account joins it. */
export const words = {
  button: (host: string) => `Sign in at ${host}`,
  or: 'or with a password',
  onlyLead: 'This service has no passwords. Your company’s sign-in page asks who you are.',
  codeLead: 'Your sign-in worked. Enter the code from your authenticator app.',
  faults: {
    expired: {
      title: 'This sign-in is over',
      text: 'It took more than 10 minutes, was used before, or began in another browser. Sign in again.',
    },
    denied: { title: 'You were not signed in', text: 'The sign-in page refused, or you canceled there. Try again.' },
    unavailable: {
      title: 'The sign-in page does not answer',
      text: 'Try again in a minute. If you have a password here, it still works.',
    },
    unavailableOnly: { title: 'The sign-in page does not answer', text: 'Try again in a minute.' },
    failed: {
      title: 'The sign-in could not be checked',
      text: 'The answer of the sign-in page was not what it has to be. Try again; if it stays so, ask your administrator. The log of the service has the reason.',
    },
    mfa: {
      title: 'Operators need a second factor',
      text: 'You signed in without one. Set it up at your company’s sign-in page, and sign in with it.',
    },
    disabled: {
      title: 'This account is disabled',
      text: 'An operator disabled it. Ask your administrator to enable it.',
    },
    taken: {
      title: 'This identity belongs to another account',
      text: 'Your account was not changed. Sign out, and sign in with this identity to see which account it belongs to.',
    },
    only: { title: 'This service has no passwords', text: 'Sign in by single sign-on.' },
  } as Record<string, { title: string; text: string }>,
  join: {
    title: 'Single sign-on',
    lead: (host: string) => `Sign in to this account at ${host}, without the password.`,
    joined: 'This account is joined: you can sign in either way.',
    joinedBySession: 'You signed in by single sign-on. The service asks every few minutes whether you may stay.',
    done: 'Your account is joined',
    doneText: 'From now on you can sign in either way.',
    begin: 'Join this account',
    submit: 'Continue',
    leave: 'Leave single sign-on',
    effect:
      'Your identity there will no longer open this account, and the sessions that it opened end. Your password stays.',
    left: 'You have left single sign-on',
  },
  noPassword: 'You have no password here. This works within 15 minutes of a sign-in.',
};
