import { Link } from 'wouter';

/** Pages for people without a session. */
export const words = {
  invitation: {
    title: 'Join an account',
    expired: 'This invitation no longer works',
    expiredNext: 'It was used, withdrawn or is more than 7 days old. Ask an owner of the account for a new one.',
    invited: (account: string, role: string, email: string) => (
      <>
        You are invited to join <strong>{account}</strong> as <strong>{role}</strong>, with the email{' '}
        <strong>{email}</strong>.
      </>
    ),
    password: 'Choose a password',
    signInFirst: (
      <>
        <Link href="/sign-in">Sign in</Link> first, then open the link again.
      </>
    ),
    join: 'Join account',
  },
  landing: {
    lead: 'Self-hosted number verification and SMS messaging. Sign up, register an application and get its API key.',
    title: 'Send your first text in a minute',
    steps: 'Three steps',
    create: 'Create an application',
    createDetail: 'It holds your credentials. Recipients see its name in texts.',
    register: 'Register it for an API and a plan',
    registerInSandbox: 'Approved at once. You get a key and a curl command to paste.',
    registerInProduction: 'You get a key and a curl command. They work once an operator approves the registration.',
    send: 'Send your first text',
    sendInSandbox: 'From the portal or your terminal. It arrives on a virtual handset.',
    sendInProduction: 'From the portal or your terminal. The portal shows each step of the delivery.',
  },
  password: {
    rule: 'At least 8 characters. 15 or more are better.',
    show: 'Show password',
    label: 'Password',
  },
  secondFactor: {
    lead: 'Your password is correct. Enter the code from your authenticator app.',
    title: 'Enter your code',
    lostPhone:
      'Lost your phone? Use a recovery code. If you have none, ask your administrator for a reset link that also turns off the second factor.',
  },
  setPassword: {
    title: 'Set a new password',
    effect: (email: string) => `This sets a new password for ${email} and ends all sessions of this account`,
    makesOperator: 'It also makes the account an operator, who can change carriers, routes and accounts.',
    removesSecondFactor: 'It also turns off the second factor.',
    once: 'The link works once.',
    password: 'New password',
    expired: 'This link no longer works',
    expiredNext: 'It was used or is more than a day old. Ask your administrator for a new reset link.',
    submit: 'Set password and sign in',
  },
  signInLink: {
    expired: 'This sign-in link no longer works',
    expiredNext:
      'It works once, within 15 minutes of the first start. Sign in with the email and password below instead.',
  },
  signIn: {
    title: 'Sign in',
    expired: 'Your session has ended. Sign in again.',
    noAccount: (
      <>
        New here? <Link href="/">Sign up</Link>
      </>
    ),
    demo: (
      <>
        Want to try it first? Use the demo account with its two applications. The service printed its email and password
        at the first start, and saved them in <code>sandbox-credentials.json</code> in the data folder.
      </>
    ),
    forgotten: (
      <>
        Forgot your password? Ask your administrator for a reset link:{' '}
        <code>npx --no-install heliograph reset-password your@email</code>
      </>
    ),
  },
  email: 'Email',
  signUp: {
    title: 'Sign up',
    submit: 'Create account',
    hasAccount: (
      <>
        Already have an account? <Link href="/sign-in">Sign in</Link>
      </>
    ),
  },
};
