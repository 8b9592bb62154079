import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { type Problem, toProblem } from './problem.ts';

export interface Action<Input> {
  run: (input: Input) => void;
  busy: boolean;
  problem: Problem | undefined;
}

/** Runs an action that the user starts; tells whether it is running and why it failed. */
export function useAction<Input = void>(act: (input: Input) => Promise<unknown>): Action<Input> {
  const { account, expire } = useSession();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  async function perform(input: Input): Promise<void> {
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
