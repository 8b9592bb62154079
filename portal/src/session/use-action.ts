import { useEffect, useRef, useState } from 'react';
import { type Problem, toProblem } from '../api/problem.ts';
import { useSession } from './session.tsx';

export interface Action<Input> {
  run: (input: Input) => void;
  busy: boolean;
  problem: Problem | undefined;
}

/** Runs an action that the user starts, and reports whether it is running and why it failed. */
export function useAction<Input = void>(act: (input: Input) => Promise<unknown>): Action<Input> {
  const { account, expire } = useSession();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const focused = useRef<Element | null>(null);

  useEffect(() => {
    if (!busy && focused.current !== null) returnFocus(focused.current);
    if (!busy) focused.current = null;
  }, [busy]);

  async function perform(input: Input): Promise<void> {
    focused.current = document.activeElement;
    setBusy(true);
    setProblem(undefined);
    try {
      await act(input);
    } catch (error) {
      const found = toProblem(error);
      if (found.status === 401 && account !== null) expire();
      else setProblem(found);
    } finally {
      setBusy(false);
    }
  }

  return { run: (input) => void perform(input), busy, problem };
}

/** A busy button loses the focus. Restores it to the first field with an error, or to the button. */
function returnFocus(before: Element): void {
  if (document.activeElement !== document.body || !(before instanceof HTMLElement)) return;
  const wrong = before.closest('form')?.querySelector<HTMLElement>('[aria-invalid="true"]');
  (wrong ?? before).focus({ preventScroll: wrong === null || wrong === undefined });
}
