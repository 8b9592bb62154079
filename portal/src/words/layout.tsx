import { Link } from 'wouter';

/** The frame of every page. */
export const words = {
  product: 'Heliograph',
  skip: 'Skip to content',
  navigation: 'Main',
  applications: 'Applications',
  operations: 'Operations',
  reference: 'Reference',
  sandboxNote: 'Texts go to the virtual handset. They never leave this machine.',
  signIn: 'Sign in',
  signUp: 'Sign up',
  accountOf: (email: string) => `Account of ${email}`,
  signOut: 'Sign out',
  notFound: {
    title: 'Page not found',
    why: 'The page does not exist, or it belongs to another account',
    next: (
      <>
        <Link href="/find">Find</Link> it by a number, an id or a name, or go to{' '}
        <Link href="/applications">your applications</Link>.
      </>
    ),
  },
};
