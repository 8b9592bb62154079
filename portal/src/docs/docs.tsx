import { Skeleton } from '@mantine/core';
import { lazy, type MouseEvent, Suspense, use, useEffect, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { isReferencePath } from '../location.ts';
import { NotFound } from '../parts/not-found.tsx';
import styles from './docs.module.css';
import { loadPart } from './model/load.ts';
import { Navigation } from './navigation.tsx';
import { OperationPage } from './operation/operation-page.tsx';
import { ReferencePage } from './reference-page.tsx';
import { SearchDialog } from './search/search-dialog.tsx';
import { StartPage } from './start-page.tsx';

// Starts loading while React renders the frame. The page that needs it shows a failure.
loadPart('apis').catch(() => {});

const ErrorPage = lazy(() => import('./errors/error-page.tsx'));
const GuidePage = lazy(() => import('./guides/guide-page.tsx'));

/** The reference and the guides. Both are public. */
export default function Docs() {
  const apis = use(loadPart('apis'));
  const [isSearching, setSearching] = useState(false);
  useSearchKeys(() => setSearching(true));
  const followLink = useFollowLink();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links inside are links; their clicks arrive here.
    // biome-ignore lint/a11y/useKeyWithClickEvents: on a link, the Enter key causes a click.
    <div className={styles.docs} onClick={followLink}>
      <Navigation apis={apis} openSearch={() => setSearching(true)} />
      <div className={styles.page}>
        <Suspense fallback={<Loading />}>
          <Switch>
            <Route path="/docs">
              <StartPage apis={apis} />
            </Route>
            <Route path="/docs/reference">
              <ReferencePage apis={apis} />
            </Route>
            <Route path="/docs/reference/:id">{({ id }) => <OperationPage key={id} id={id} />}</Route>
            <Route path="/docs/guides/:slug">{({ slug }) => <GuidePage key={slug} slug={slug} />}</Route>
            <Route path="/docs/errors/:name?">{({ name }) => <ErrorPage key={name} name={name} />}</Route>
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </div>
      {isSearching && <SearchDialog close={() => setSearching(false)} />}
    </div>
  );
}

/** `/` outside of inputs, and Ctrl-K everywhere. */
function useSearchKeys(open: () => void): void {
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const target = event.target as HTMLElement;
      const isTyping = target.matches('input,textarea,select,[contenteditable]');
      const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
      const isCommand = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!isSlash && !isCommand) return;
      event.preventDefault();
      open();
    }
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [open]);
}

/** The links of a guide are plain HTML: handling them here avoids a full page load. */
function useFollowLink(): (event: MouseEvent) => void {
  const [, navigate] = useLocation();
  return (event) => {
    const link = (event.target as Element).closest('a');
    const href = link?.getAttribute('href') ?? '';
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain || !isReferencePath(href.split('#')[0] ?? '')) return;
    event.preventDefault();
    navigate(href);
  };
}

function Loading() {
  return (
    <div aria-busy="true">
      <Skeleton height={36} width={280} mb={24} />
      <Skeleton height={220} mb={16} />
      <Skeleton height={220} />
    </div>
  );
}
