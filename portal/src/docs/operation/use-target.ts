import { useEffect } from 'react';
import { useFragment } from '../../location.ts';

/** Scrolls to the field or error that the address names, and opens the lists around it. */
export function useTarget(): void {
  const fragment = useFragment();
  useEffect(() => {
    const target = fragment === '' ? null : document.getElementById(fragment);
    if (target === null) return;
    for (let at = target.parentElement; at !== null; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
    }
    if (target instanceof HTMLDetailsElement) target.open = true;
    target.scrollIntoView();
    target.dataset.target = '';
    return () => {
      delete target.dataset.target;
    };
  }, [fragment]);
}
