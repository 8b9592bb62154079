// Tests: test/providers/presets.test.ts, test/providers/faults.test.ts
import { measure } from '../../messages/text/text.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Environment } from '../../platform/environment.ts';
import { createAddressGuard } from '../../platform/http-out/address-guard.ts';
import type { BindState } from '../carrier/bind-store.ts';
import type { OutgoingText } from '../carrier/carrier.ts';
import type { CarrierFacts } from '../carrier/configured.ts';
import { waitMs } from '../carrier/paced-sender.ts';
import { doubtOf, drainMs, type RunningCarrier, watchAccepted } from '../carrier/running.ts';
import type { BindSlots, WantedSlots } from '../carrier/slots.ts';
import { readCarrierWords } from '../carrier/words.ts';
import { readAnswer } from './answer.ts';
import { createHttpClient } from './client.ts';
import { createCarrierCondition } from './condition.ts';
import { tryConnection } from './connect.ts';
import { createTokenSource } from './oauth2.ts';
import type { CallbackUrls } from './profile.ts';
import { createRenderer } from './render.ts';
import { createRequestLog } from './request-log.ts';
import { createHttpSender, type Sent } from './sender.ts';
import { addressOf, type HttpSettings, profileOf } from './settings.ts';
import { createSignedTokens } from './signed-token.ts';
import { type FindReceipt, testHttpCarrier, testWay } from './text-test.ts';

export type ConfiguredHttpCarrier = CarrierFacts & { kind: 'http'; settings: HttpSettings };

export interface HttpCarrierOptions {
  configured: ConfiguredHttpCarrier;
  /** The URLs that the provider reports to. */
  urls: CallbackUrls;
  /** A slot is this node's number in the rows of state. The slots also count the nodes that share the account's rate. */
  slots: BindSlots;
  clock: Clock;
  environment: Environment;
  /** The default for plain texts in doubt. */
  byDefault: { resend: boolean; afterMs: number };
  findReceipt: FindReceipt;
  /** Called for each accepted text that will get no receipt. */
  onUnreported?: ((text: OutgoingText) => void) | undefined;
  /** Called when the provider starts or stops working. */
  onBindsChange?: (() => void) | undefined;
}

const marginMs = 5000;
const tickMs = 250;
/** Maximum number of nodes that share an account. */
const mostNodes = 99;

/** A carrier that is reached by a provider's HTTP API. Receipts and inbound texts come to the web nodes. */
export function createHttpCarrier(options: HttpCarrierOptions): RunningCarrier {
  const { configured, urls, slots, clock, environment, byDefault, findReceipt, onUnreported, onBindsChange } = options;
  const { settings, key, account, id } = configured;
  const { allow_private: allowPrivate, concurrency, timeout_ms: timeoutMs, ca } = settings;
  const profile = profileOf(settings);
  const secrets = Object.values(profile.secrets);
  const hasReceipts = settings.receipts !== 'none' && profile.description.receipt !== undefined;
  const guard = createAddressGuard({ environment, allowPrivate });
  const client = createHttpClient({ guard, concurrency, timeoutMs, ca });
  const renderer = createRenderer(profile, urls);
  const tokens = createTokenSource(profile, { client, clock }) ?? createSignedTokens(profile, clock);
  const condition = createCarrierCondition(clock, onBindsChange);
  const requests = createRequestLog(clock);
  const url = addressOf(settings)[0]?.url ?? '';
  let slot = 0;
  let nodes: WantedSlots | undefined;
  let ticker: NodeJS.Timeout | undefined;
  let isConnecting = false;
  let onCapacity = () => {};

  const sender = createHttpSender({
    perSecond: settings.per_second,
    concurrency,
    clock,
    condition,
    send,
    onCapacity: () => onCapacity(),
  });

  async function send(text: OutgoingText, leave: () => boolean): Promise<Sent> {
    const given = await tokens?.get();
    if (given !== undefined && 'kind' in given) return given;
    const request = renderer.render(text, clock.nowMs(), given?.token);
    if (text.traceparent !== undefined) request.headers.traceparent = text.traceparent;
    const exchanged = await client.send(request, leave);
    if (exchanged.kind === 'overdue') return exchanged;
    const isAnswered = exchanged.kind === 'answer';
    const about = { messageId: text.messageId, segments: measure(text.text).count, secrets };
    const verdict = isAnswered ? readAnswer(profile.description, exchanged.answer, about) : undefined;
    const status = isAnswered ? exchanged.answer.status : 0;
    if (status === 401) tokens?.forget();
    const result = verdict?.result;
    requests.record({
      command: renderer.shown,
      status,
      messageId: text.messageId,
      carrierMessageId: result?.outcome === 'accepted' ? result.carrierMessageId : null,
      reported: readCarrierWords(result?.reported),
      to: text.to,
    });
    return verdict === undefined
      ? (exchanged as Exclude<typeof exchanged, { kind: 'answer' }>)
      : { kind: 'verdict', verdict, status };
  }

  async function reconnect(): Promise<void> {
    isConnecting = true;
    const steps = await tryConnection({ url, ca, guard, clock }).catch(() => []);
    isConnecting = false;
    const last = steps.at(-1);
    if (last?.ok === true) condition.noteConnected();
    else condition.noteUnreachable(last?.detail ?? 'The provider cannot be reached.');
  }

  function tick(): void {
    if (nodes !== undefined && nodes.held.size > 0) sender.setShare(1 / nodes.nodes);
    if (condition.wantsConnection && !isConnecting) void reconnect();
    sender.pump();
  }

  function shownState(): BindState {
    const { state, error, nextTryMs, sinceMs, isRefused } = condition;
    const inMs = nextTryMs === null ? 0 : Math.max(0, nextTryMs - clock.steadyMs());
    return {
      slot,
      // A carrier that is being probed is shown as ready: only a text can show whether it works.
      state: state === 'down' ? 'failing' : 'ready',
      mode: 'http',
      host: new URL(url).host,
      sinceMs,
      error,
      refused: isRefused,
      // Rounded to the second, so that an unchanged state is not written again.
      nextTryAtMs: nextTryMs === null ? null : Math.ceil((clock.nowMs() + inMs) / 1000) * 1000,
    };
  }

  return {
    key,
    account,
    submitTimeoutMs: timeoutMs + waitMs + marginMs,
    repeatsMessageId: !hasReceipts,
    watchesItself: true,
    onDoubt: doubtOf(settings, byDefault),
    confirmsOptOuts: settings.opt_out_replies === 'carrier',
    capacity: sender.capacity,
    throttledMs: sender.throttledMs,
    submit: (texts, answer, progress) =>
      sender.submit(texts, watchAccepted(texts, answer, hasReceipts ? undefined : onUnreported), progress),
    setPaused: sender.setPaused,
    // It has no session to lose, so every change of settings restarts it.
    update: () => {},
    tryNow() {
      condition.tryNow();
      tick();
    },
    start(_, reportCapacity) {
      onCapacity = reportCapacity;
      nodes = slots.want({
        carrierId: id,
        binds: mostNodes,
        atMost: 1,
        onTaken(taken) {
          slot = taken;
          tick();
        },
        // Without its slot the carrier keeps sending at the rate it had.
        onLost: () => {},
      });
      ticker = setInterval(tick, tickMs);
    },
    async stop() {
      clearInterval(ticker);
      await sender.stop(drainMs);
      client.close();
      await nodes?.stop();
    },
    binds: () => (slot === 0 ? [] : [shownState()]),
    hint: null,
    receiptKeys: (carrierMessageId) => [carrierMessageId],
    readLog: () => requests.entries(slot),
    runTest: (test, onStep) =>
      testHttpCarrier({
        test,
        account,
        hasReceipts,
        way: testWay(settings.channels),
        clock,
        connect: () => tryConnection({ url, ca, guard, clock }),
        submit: sender.submit,
        findReceipt,
        onStep,
      }),
  };
}
