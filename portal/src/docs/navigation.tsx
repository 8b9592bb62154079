import { type ReactNode, Suspense, use, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Icon } from '../parts/icon.tsx';
import { words } from '../words/docs.tsx';
import { guides } from './guides/guide-list.ts';
import { Method } from './method.tsx';
import { loadPart, type PartName, parts } from './model/load.ts';
import type { Api, Operation } from './model/operations.ts';
import styles from './navigation.module.css';

/** The pages of the reference: guides, then every operation by API. On a small screen a button opens it. */
export function Navigation({ apis, openSearch }: { apis: Api[]; openSearch: () => void }) {
  const [path] = useLocation();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={styles.side} data-open={isOpen || undefined}>
      <div className={styles.top}>
        <button type="button" className={styles.search} onClick={openSearch} aria-keyshortcuts="/ Control+K">
          <Icon name="search" size={16} />
          <span>{words.navigation.search}</span>
          <kbd>/</kbd>
        </button>
        <button type="button" className={styles.toggle} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {words.navigation.all}
        </button>
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links inside take the keys; a click on one closes the menu. */}
      <nav
        className={styles.nav}
        aria-label={words.navigation.label}
        onClick={(event) => closeByLink(event.target, setOpen)}
      >
        <ul className={styles.list}>
          <Item href="/docs" path={path}>
            {words.navigation.start}
          </Item>
          <Item href="/docs/reference" path={path}>
            {words.navigation.operations}
          </Item>
          <Item href="/docs/errors" path={path}>
            {words.navigation.errors}
          </Item>
        </ul>
        <Group title={words.navigation.guides} holds={path.startsWith('/docs/guides/') || path === '/docs'}>
          <ul className={styles.list}>
            {guides.map(({ slug, title }) => (
              <Item key={slug} href={`/docs/guides/${slug}`} path={path}>
                {title}
              </Item>
            ))}
          </ul>
        </Group>
        {apis.map((api) => (
          <ApiGroup key={api.slug} api={api} path={path} />
        ))}
        {parts.slice(1).map(({ name, title }) => (
          <PartGroup key={name} name={name} title={title} path={path} />
        ))}
      </nav>
    </div>
  );
}

function closeByLink(target: EventTarget, setOpen: (open: boolean) => void): void {
  if ((target as Element).closest('a') !== null) setOpen(false);
}

function Item({ href, path, children }: { href: string; path: string; children: ReactNode }) {
  return (
    <li>
      <Link href={href} className={styles.link ?? ''} aria-current={path === href ? 'page' : undefined}>
        {children}
      </Link>
    </li>
  );
}

/** Opens automatically when the current page is inside it. */
function Group({ title, holds, children }: { title: string; holds: boolean; children: ReactNode }) {
  const [chosen, setChosen] = useState<boolean | undefined>(undefined);
  const isOpen = chosen ?? holds;
  return (
    <details className={styles.group} open={isOpen} onToggle={(event) => setChosen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}

function ApiGroup({ api: { name, operations }, path }: { api: Api; path: string }) {
  const holds = operations.some(({ id }) => path === `/docs/reference/${id}`);
  return (
    <Group key={String(holds)} title={name.replace(/^Developer portal: /, 'Portal: ')} holds={holds}>
      <OperationItems operations={operations} path={path} />
    </Group>
  );
}

function OperationItems({ operations, path }: { operations: Operation[]; path: string }) {
  return (
    <ul className={styles.list}>
      {operations.map(({ id, method, summary }) => (
        <Item key={id} href={`/docs/reference/${id}`} path={path}>
          <span className={styles.summary}>{summary}</span>
          <Method method={method} small />
        </Item>
      ))}
    </ul>
  );
}

/** A part with a document of its own, loaded when it is opened. */
function PartGroup({ name, title, path }: { name: PartName; title: string; path: string }) {
  return (
    <Group title={title} holds={false}>
      <Suspense fallback={<p className={styles.wait}>{words.navigation.loading}</p>}>
        <PartItems name={name} path={path} />
      </Suspense>
    </Group>
  );
}

function PartItems({ name, path }: { name: PartName; path: string }) {
  const apis = use(loadPart(name));
  const [only] = apis;
  if (apis.length === 1 && only !== undefined) return <OperationItems operations={only.operations} path={path} />;
  return (
    <div className={styles.part}>
      {apis.map((api) => (
        <ApiGroup key={api.slug} api={api} path={path} />
      ))}
    </div>
  );
}
