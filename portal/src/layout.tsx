import { Button } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useAction } from './api/use-action.ts';
import styles from './layout.module.css';
import { ColorSchemeSwitch } from './parts/color-scheme-switch.tsx';
import { Icon } from './parts/icon.tsx';
import { Logo } from './parts/logo.tsx';
import { Tag } from './parts/status.tsx';
import { useSession } from './session/session.tsx';

export function Layout({ children }: { children: ReactNode }) {
  const { service, account } = useSession();
  const main = useRef<HTMLElement>(null);
  return (
    <>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className={styles.header}>
        <div className={styles.bar}>
          <Link href="/" className={styles.brand}>
            <Logo />
            Heliograph
          </Link>
          <Tag tone={service.environment === 'sandbox' ? 'wait' : 'calm'}>{service.environment}</Tag>
          <nav className={styles.nav} aria-label="Main">
            {account !== null && <NavLink href="/applications">Applications</NavLink>}
            {account?.operator && <NavLink href="/operator">Operations</NavLink>}
            <a href="/docs" className={styles.link}>
              Reference
            </a>
          </nav>
          <div className={styles.end}>
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
        {service.environment === 'sandbox' && ' · Texts go to the virtual handset and never leave this machine.'}
      </footer>
    </>
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
  const landing = location === '/' || location === '/sign-up';
  return (
    <Button component={Link} href={landing ? '/sign-in' : '/'} variant="default" size="sm">
      {landing ? 'Sign in' : 'Sign up'}
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
      <span className={styles.email} title={email}>
        {email}
      </span>
      <Button variant="default" size="sm" loading={busy} onClick={() => run()}>
        <Icon name="leave" size={16} />
        <span className={styles.leave}>Sign out</span>
      </Button>
    </>
  );
}
