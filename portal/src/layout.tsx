import { Button } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { FindButton } from './find/find-button.tsx';
import styles from './layout.module.css';
import { isReferencePath } from './location.ts';
import { AlertBadge } from './operator/navigation/alert-badge.tsx';
import { ColorSchemeSwitch } from './parts/color-scheme-switch.tsx';
import { Icon } from './parts/icon.tsx';
import { Logo } from './parts/logo.tsx';
import { Tag } from './parts/status.tsx';
import { useSession } from './session/session.tsx';
import { useAction } from './session/use-action.ts';
import { words } from './words/layout.tsx';

export function Layout({ children }: { children: ReactNode }) {
  const { service, account } = useSession();
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  // These pages have a column of links.
  const isWide = isReferencePath(path) || path.startsWith('/operator');
  return (
    <div className={styles.frame} data-wide={isWide || undefined}>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        {words.skip}
      </button>
      <header className={styles.header}>
        <div className={styles.bar}>
          <Link href="/" className={styles.brand}>
            <Logo />
            <span className={account === null ? undefined : styles.product}>{words.product}</span>
          </Link>
          <Tag tone={service.environment === 'sandbox' ? 'wait' : 'calm'}>{service.environment}</Tag>
          <nav className={styles.nav} aria-label={words.navigation}>
            {account !== null && <NavLink href="/applications">{words.applications}</NavLink>}
            {account?.operator && <NavLink href="/operator">{words.operations}</NavLink>}
            <NavLink href="/docs">{words.reference}</NavLink>
          </nav>
          <div className={styles.end}>
            {account?.operator && <AlertBadge />}
            <FindButton />
            <ColorSchemeSwitch />
            {account === null ? <VisitorLink /> : <SignedIn email={account.email} />}
          </div>
        </div>
      </header>
      <main ref={main} tabIndex={-1} className={styles.main}>
        {children}
      </main>
      <footer className={styles.footer}>
        {service.name} {service.version}
        {service.environment === 'sandbox' && ` · ${words.sandboxNote}`}
      </footer>
    </div>
  );
}

function NavLink({ href, children }: { href: string; children: string }) {
  const [location] = useLocation();
  const here = location.startsWith(href) || (href === '/applications' && location === '/');
  return (
    <Link href={href} className={styles.link ?? ''} aria-current={here ? 'page' : undefined}>
      {children}
    </Link>
  );
}

function VisitorLink() {
  const [location] = useLocation();
  const { service } = useSession();
  const landing = location === '/' || location === '/sign-up';
  // A service with single sign-on alone has no sign-up.
  if (!landing && service.sso?.only) return null;
  return (
    <Button component={Link} href={landing ? '/sign-in' : '/'} variant="default" size="sm">
      {landing ? words.signIn : words.signUp}
    </Button>
  );
}

function SignedIn({ email }: { email: string }) {
  const { leave } = useSession();
  const [, navigate] = useLocation();
  const { run, busy } = useAction(async () => {
    await leave();
    navigate('/sign-in');
  });
  return (
    <>
      <Link href="/account" className={styles.account ?? ''} aria-label={words.accountOf(email)} title={email}>
        <Icon name="person" size={18} />
        <span className={styles.email}>{email}</span>
      </Link>
      <Button variant="default" size="sm" loading={busy} onClick={() => run()}>
        <Icon name="leave" size={16} />
        <span className={styles.leave}>{words.signOut}</span>
      </Button>
    </>
  );
}
