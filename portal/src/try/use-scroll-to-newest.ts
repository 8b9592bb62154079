import { useEffect, useRef } from 'react';

const marginPx = 24;

/** Scrolls the newest exchange into sight after a send. Both parts of the page need a ref. */
export function useScrollToNewest(newestId: string | undefined) {
  const formPart = useRef<HTMLDivElement>(null);
  const exchangesPart = useRef<HTMLElement>(null);
  const lastShown = useRef(newestId);
  useEffect(() => {
    if (newestId === lastShown.current) return;
    lastShown.current = newestId;
    scrollToShow(exchangesPart.current?.querySelector('details'), formPart.current);
  }, [newestId]);
  return { formPart, exchangesPart };
}

/** Scrolls until the whole part is visible, but no further than the form's last button. */
function scrollToShow(part: Element | null | undefined, form: Element | null): void {
  const button = [...(form?.querySelectorAll('button[type="submit"]') ?? [])].at(-1);
  if (!part || button === undefined) return;
  const hidden = part.getBoundingClientRect().bottom + marginPx - innerHeight;
  const by = Math.min(hidden, button.getBoundingClientRect().top - marginPx);
  if (by > 0) window.scrollBy({ top: by });
}
