// Tests: test/races/enrolment.test.ts, test/hostile/stolen-password.test.ts
import type { Note, Tx } from '../../platform/database/database.ts';
import { ApiError, invalidField } from '../../platform/errors.ts';
import { toRun } from '../../platform/how-to-run.ts';
import * as people from '../people/person-store.ts';
import { wrongCode } from './second-factor.ts';
import type { Self } from './self.ts';
import { deleteSessionsOf, type Enrolment, findEnrolment } from './session-store.ts';
import { type SignInOptions, startAgain } from './sign-in.ts';
import type { Guess } from './throttle.ts';

interface FactorOptions extends Pick<SignInOptions, 'database' | 'clock' | 'throttle' | 'secondFactor' | 'addressKey'> {
  operatorsNeedSecondFactor: boolean;
  /** Checks the person's own password. */
  requirePassword: (self: Self, password: string) => Promise<unknown>;
  /** Counts a guess. */
  requireTry: (guess: Guess) => Promise<void>;
}

/**
 * Changes of a person's second factor. An operator without one can set it up only in a session that a link from the
 * machine opened, and only soon after: a stolen password cannot enrol the thief's phone.
 */
export function createFactorChanges(options: FactorOptions) {
  const { database, clock, throttle, secondFactor, requirePassword, requireTry } = options;

  /** Locks the person: an operator link used meanwhile ends this session first, or waits. */
  async function lockSelf(tx: Tx, { personId, sessionHash }: Self) {
    await people.lockPerson(tx, personId);
    const enrolment = await findEnrolment(tx, sessionHash);
    const person = await people.findPerson(tx, personId);
    if (enrolment === undefined || person === undefined) throw startAgain();
    return { person, enrolment, isOn: await secondFactor.isOn(tx, personId) };
  }

  function requireEnrolment(enrolment: Enrolment): void {
    if (enrolment.operator && enrolsUntil(enrolment, clock.nowMs()) === null) throw needsLink();
  }

  /** Runs work that checks a code of the person's second factor, with the limits of a sign-in. */
  async function withCode<Result>(self: Self, work: (tx: Tx) => Promise<Result>): Promise<Result> {
    const { personId, address } = self;
    const guess: Guess = { personId, email: '', addressKey: options.addressKey(address), of: 'second factor' };
    await requireTry(guess);
    return database.transaction(async (tx) => {
      const result = await work(tx);
      await throttle.clear(tx, guess);
      return result;
    });
  }

  async function requireCode(tx: Tx, personId: string, code: string): Promise<void> {
    if (!(await secondFactor.takeCode(tx, personId, code))) throw wrongCode();
  }

  return {
    /** Replacing an active second factor requires one of its codes. */
    async beginSecondFactor(self: Self, password: string, code: string | undefined) {
      await requirePassword(self, password);
      const begin = async (tx: Tx) => {
        const { person, enrolment, isOn } = await lockSelf(tx, self);
        if (!isOn) requireEnrolment(enrolment);
        else if (code === undefined) throw codeToReplace();
        else await requireCode(tx, person.id, code);
        return secondFactor.begin(tx, person.id, person.email);
      };
      return code === undefined ? database.transaction(begin) : withCode(self, begin);
    },

    /** Ends all other sessions, which were opened without the second factor. Returns the recovery codes. */
    confirmSecondFactor: (self: Self, code: string, note?: Note<{ replaced: boolean }>): Promise<string[]> =>
      withCode(self, async (tx) => {
        const { enrolment, isOn } = await lockSelf(tx, self);
        if (!isOn) requireEnrolment(enrolment);
        await deleteSessionsOf(tx, self.personId, self.sessionHash);
        const codes = await secondFactor.confirm(tx, self.personId, code);
        await note?.(tx, { replaced: isOn });
        return codes;
      }),

    renewRecoveryCodes: (self: Self, code: string, note?: Note): Promise<string[]> =>
      withCode(self, async (tx) => {
        const codes = await secondFactor.renewRecoveryCodes(tx, self.personId, code);
        await note?.(tx, undefined);
        return codes;
      }),

    async removeSecondFactor(self: Self, { password, code }: { password: string; code: string }, note?: Note) {
      const isOperator = (await people.findPerson(database, self.personId))?.operator;
      if (isOperator && options.operatorsNeedSecondFactor) throw operatorsKeepIt();
      await requirePassword(self, password);
      await withCode(self, async (tx) => {
        // A person who became an operator meanwhile has lost this session.
        const { person } = await lockSelf(tx, self);
        await requireCode(tx, person.id, code);
        await secondFactor.remove(tx, person.id);
        await note?.(tx, undefined);
      });
    },
  };
}

/** The time until which an operator may set up a second factor in this session; null when not allowed. */
export function enrolsUntil(enrolment: Enrolment | undefined, nowMs: number): number | null {
  const untilMs = enrolment?.operator === true ? enrolment.enrolsUntilMs : null;
  return untilMs !== null && untilMs > nowMs ? untilMs : null;
}

function needsLink(): ApiError {
  return new ApiError(
    'PERMISSION_DENIED',
    'An operator must set up a second factor within 15 minutes of using a link that was made on the machine. ' +
      `Make one there: ${toRun('operator', 'your@email')}`,
  );
}

function codeToReplace(): ApiError {
  return invalidField('code', 'must be a code of your current second factor');
}

function operatorsKeepIt(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    'This service requires a second factor of operators, so you cannot turn it off. You can replace it.',
  );
}
