import type { Step } from '../explore.ts';
import { ended, isHeld, startSteps } from './start-steps.ts';
import type { Check, State, Ver } from './state.ts';

export function steps(state: State): Step<State>[] {
  return [
    ...state.starts.flatMap((_, index) => startSteps(state, index)),
    ...state.checks.flatMap((_, index) => checkSteps(state, index)),
    ...state.cancels.flatMap((ver) => cancelSteps(state, ver)),
    ...expireSteps(state),
    ...(state.now < state.lastTick ? [{ name: 'time passes', next: { ...state, now: state.now + 1 } }] : []),
  ];
}

/** `createChecks`: `decide`, and with a key `decideIn` together with `insertAnswers`. */
function checkSteps(state: State, index: number): Step<State>[] {
  const check = state.checks[index] as Check;
  const { target, stage, isRight, hasKey, isStored } = check;
  const ver = state.vers[target];
  if (stage === 'done' || ver === undefined || isHeld(state, target)) return [];
  if (hasKey && isStored)
    return [
      {
        name: `check ${index} gets the stored answer`,
        next: { ...state, checks: state.checks.with(index, { ...check, stage: 'done' }) },
      },
    ];
  const isOpen = ver.status === 'pending' && ver.expiresAt > state.now;
  // Whether a caller's code is right is known when its row is read.
  if (stage === 'waits' && !hasKey && (!isRight || ver.code !== 0)) {
    if (!isRight && isOpen && ver.attempts + 1 < ver.maxAttempts)
      return answers(state, index, { ...ver, attempts: ver.attempts + 1 }, 1, 'spendTries');
    return [
      {
        name: `check ${index} spendTries changes nothing`,
        next: { ...state, checks: state.checks.with(index, { ...check, stage: 'decides' }) },
      },
    ];
  }
  if (!isOpen) return answers(state, index, ver, 0, 'decideChecks changes nothing');
  if (isRight)
    return answers(
      state,
      index,
      { ...ended(ver, 'approved'), approvals: ver.approvals + 1 },
      0,
      'decideChecks approves',
    );
  const spent = { ...ver, attempts: ver.attempts + 1 };
  const isLast = spent.attempts >= ver.maxAttempts;
  return answers(
    state,
    index,
    isLast ? ended(spent, 'failed') : spent,
    1,
    isLast ? 'decideChecks fails it' : 'decideChecks spends a try',
  );
}

/** The answer comes, or it is lost and the caller asks again. */
function answers(state: State, index: number, ver: Ver, spent: number, name: string): Step<State>[] {
  const check = state.checks[index] as Check;
  const done = { ...check, spent: check.spent + spent, runs: check.runs + 1, isStored: check.hasKey };
  const to = (put: Check): State => ({
    ...state,
    vers: state.vers.with(check.target, ver),
    checks: state.checks.with(index, put),
  });
  const arrives = { name: `check ${index} ${name}`, next: to({ ...done, stage: 'done' }) };
  if (check.losses === 0) return [arrives];
  return [
    arrives,
    {
      name: `check ${index} ${name}, and its answer is lost`,
      next: to({ ...done, stage: 'waits', losses: check.losses - 1 }),
    },
  ];
}

/** `cancelPending` and `cancelTexts`. */
function cancelSteps(state: State, target: number): Step<State>[] {
  const ver = state.vers[target];
  if (ver === undefined || isHeld(state, target)) return [];
  const left = { ...state, cancels: state.cancels.filter((each) => each !== target) };
  if (ver.status !== 'pending' || ver.expiresAt <= state.now)
    return [{ name: `cancelPending ${target} changes nothing`, next: left }];
  return [
    {
      name: `cancelPending ${target}`,
      next: { ...left, vers: state.vers.with(target, { ...ended(ver, 'canceled'), textsCanceled: true }) },
    },
  ];
}

/** `expireSome`, which skips what a transaction holds. */
function expireSteps(state: State): Step<State>[] {
  return state.vers.flatMap((ver, index) =>
    ver.status === 'pending' && ver.expiresAt <= state.now && !isHeld(state, index)
      ? [{ name: `expireSome ${index}`, next: { ...state, vers: state.vers.with(index, ended(ver, 'expired')) } }]
      : [],
  );
}
