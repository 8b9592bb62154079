// Tests: test/contract/risk.test.ts
import { createBoundedMap } from '../../platform/bounded-map.ts';
import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { GuardedClient } from '../../platform/http-out/client.ts';
import type { RiskSettings } from '../../settings/risk.ts';
import { createBreaker } from './breaker.ts';
import { type ClientToken, createClientToken, readJson } from './client-token.ts';
import { plainProvider, type RiskProvider, simSwapProvider } from './providers.ts';
import type { AskRisk, RiskAnswer, RiskQuestion } from './risk.ts';

export interface RiskCheckOptions {
  settings: RiskSettings;
  client: Pick<GuardedClient, 'call'>;
  /** For the token endpoint, if there is one. */
  tokenClient: Pick<GuardedClient, 'call'>;
  clock: Clock;
}

/** Time limit of a whole question, including the request for a token. */
export const riskWithinMs = 800;
export const longestRiskAnswer = 16 * 1024;
const keptMs = minuteMs;
const mostKept = 20_000;
/** Maximum concurrent requests to the risk service. A further one fails at once, so that no queue delays starts. */
const mostUnderWay = 256;
/** Maximum concurrent requests of one application, so that others find room. */
const mostOfApplication = 64;

type Answer = Pick<RiskAnswer, 'decision' | 'reason'>;
/** `isDown`: the breaker counts the failure. False if the service answered that it does not know the number. */
type Failure = { failure: string; isDown: boolean };

/** Asks the operator's risk check before a code is sent. Answers are kept for a minute, failures are not. */
export function createRiskCheck({ settings, client, tokenClient, clock }: RiskCheckOptions): AskRisk {
  const { url, preset, maxAgeHours, authorization, credentials, onFailure } = settings;
  const provider: RiskProvider = preset === 'json' ? plainProvider(url) : simSwapProvider(url, maxAgeHours);
  const token: ClientToken | undefined = credentials && createClientToken(credentials, tokenClient, clock);
  const breaker = createBreaker(clock);
  const kept = createBoundedMap<string, { answer: Answer; untilMs: number }>(mostKept);
  const underWay = new Map<string, Promise<Answer | Failure>>();
  const countOf = new Map<string, number>();

  const failed = (reason: string): RiskAnswer => ({ decision: onFailure, reason, source: 'failure' });

  async function call(question: RiskQuestion, signal: AbortSignal): Promise<Answer | Failure> {
    const header = token === undefined ? authorization : await token.header();
    if (token !== undefined && header === undefined) return { failure: 'no_token', isDown: true };
    if (signal.aborted) return { failure: 'timeout', isDown: true };
    const { statusCode, received } = await client.call({
      url: provider.url,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(header !== undefined && { authorization: header }),
      },
      body: JSON.stringify(provider.bodyOf(question)),
      signal,
    });
    if (statusCode === null || received === undefined) {
      return { failure: signal.aborted ? 'timeout' : 'unreachable', isDown: true };
    }
    if (statusCode === 401) token?.drop();
    if (statusCode !== 200) return { failure: `status_${statusCode}`, isDown: !aboutNumber.includes(statusCode) };
    const answer = received.isCut ? undefined : provider.read(readJson(received.body));
    return answer ?? { failure: signal.aborted ? 'timeout' : 'unreadable', isDown: true };
  }

  async function ask(question: RiskQuestion): Promise<Answer | Failure> {
    const signal = AbortSignal.timeout(riskWithinMs);
    const late = new Promise<Failure>((resolve) =>
      signal.addEventListener('abort', () => resolve({ failure: 'timeout', isDown: true }), { once: true }),
    );
    const answer = await Promise.race([call(question, signal), late]);
    if (!('failure' in answer)) {
      breaker.answered();
      kept.set(nameOf(question), { answer, untilMs: clock.steadyMs() + keptMs });
    } else if (answer.isDown) breaker.failed();
    else breaker.answered();
    return answer;
  }

  function end(name: string, applicationId: string): void {
    underWay.delete(name);
    const left = (countOf.get(applicationId) ?? 1) - 1;
    if (left === 0) countOf.delete(applicationId);
    else countOf.set(applicationId, left);
  }

  return async (question) => {
    const name = nameOf(question);
    const known = kept.get(name);
    if (known !== undefined && clock.steadyMs() < known.untilMs) return { ...known.answer, source: 'cache' };
    let asked = underWay.get(name);
    if (asked === undefined) {
      const { applicationId } = question;
      const ofApplication = countOf.get(applicationId) ?? 0;
      if (underWay.size >= mostUnderWay || ofApplication >= mostOfApplication) return failed('busy');
      if (!breaker.mayAsk()) return failed('not_asked');
      countOf.set(applicationId, ofApplication + 1);
      asked = ask(question).finally(() => end(name, applicationId));
      underWay.set(name, asked);
    }
    const answer = await asked;
    return 'failure' in answer ? failed(answer.failure) : { ...answer, source: 'answer' };
  };
}

/** The service works and does not know this number, or does not serve its network. */
const aboutNumber = [400, 404, 422];

const nameOf = ({ applicationId, to }: RiskQuestion) => `${applicationId} ${to}`;
