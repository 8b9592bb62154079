// Tests: test/smpp/carrier-trial.test.ts, test/parts/smpp-connection-test.test.ts
import type { Clock } from '../../platform/clock.ts';
import { describeBindRefusal, hintAtBindKind } from '../../smpp/bind-refusals.ts';
import type { ConnectionTarget } from '../../smpp/connection.ts';
import { hintAtTls } from '../../smpp/connection-errors.ts';
import type { DecodedPdu } from '../../smpp/decode.ts';
import { createLink, type Link } from '../../smpp/link.ts';
import { type BindCommand, interfaceVersion } from '../../smpp/pdu.ts';
import type { CloseReason } from '../../smpp/session-types.ts';
import type { TestStep } from '../carrier/test-store.ts';
import { createPduLog } from './pdu-log.ts';
import type { SmppSettings } from './settings.ts';

const stepMs = 10_000;
const unbindMs = 5000;
const bindSequence = 1;
const unbindSequence = 2;

export interface TriedBind {
  /** Every step that was begun; the last one may have failed. */
  steps: TestStep[];
  /** The error of the bind, if it was tried. */
  failure?: Pick<CloseReason, 'kind' | 'status'> | undefined;
}

/** Connects, binds and unbinds, on a connection of its own. */
export function tryBind(
  command: BindCommand,
  target: ConnectionTarget,
  { settings, clock }: { settings: SmppSettings; clock: Clock },
): Promise<TriedBind> {
  const where = `${target.host}:${target.port}`;
  const steps: TestStep[] = [];
  let current: 'connection' | 'tls' | 'bind' = 'connection';
  let beganMs = clock.steadyMs();
  let failure: TriedBind['failure'];
  let link: Link | undefined;

  return new Promise((done) => {
    let timer = setTimeout(onTimeout, stepMs);

    function note(ok: boolean, detail: string): void {
      steps.push({ step: current, ok, detail, tookMs: clock.steadyMs() - beganMs });
      beganMs = clock.steadyMs();
    }
    function end(): void {
      clearTimeout(timer);
      link?.close(true);
      done({ steps, failure });
    }
    function fail(kind: CloseReason['kind'], sentence: string, status = 0): void {
      if (steps.at(-1)?.step !== 'bind') {
        const reason = { kind, sentence, status };
        if (current === 'bind') failure = reason;
        note(false, current === 'bind' ? hintAtBindKind(reason, command).sentence : sentence);
      }
      end();
    }
    /** A peer that is silent or ends the connection does not say why. */
    function failUnsaid(kind: CloseReason['kind'], sentence: string): void {
      if (current === 'connection') fail(kind, sentence);
      else fail(kind, hintAtTls(sentence, target, current === 'tls' ? 'tls' : 'binding'));
    }
    function onTimeout(): void {
      failUnsaid('bind_unanswered', `${where} did not answer within ${stepMs / 1000} seconds.`);
    }
    function enter(next: 'tls' | 'bind', detail: string): void {
      note(true, detail);
      current = next;
      clearTimeout(timer);
      timer = setTimeout(onTimeout, stepMs);
    }
    function onConnected(): void {
      enter('tls', `${where} (${target.address}) takes connections.`);
    }
    function onReady(): void {
      if (target.tls === false) {
        onConnected();
        enter('bind', 'TLS is off.');
      } else {
        enter('bind', 'The carrier’s certificate is valid.');
      }
      link?.send({ command, status: 0, sequence: bindSequence, ...bindFields(settings) });
    }
    function onPdu({ pdu }: DecodedPdu): void {
      const isAnswered = steps.at(-1)?.step === 'bind';
      if (pdu.command === 'enquire_link') link?.send({ ...pdu, command: 'enquire_link_resp' });
      else if (isAnswered && pdu.command === 'unbind_resp') end();
      else if (isAnswered || pdu.sequence !== bindSequence) return;
      else if (pdu.command === 'generic_nack') onRefused(pdu.status);
      else if (pdu.command === `${command}_resp`) onBindAnswer(pdu.status);
    }
    function onBindAnswer(status: number): void {
      if (status !== 0) {
        onRefused(status);
        return;
      }
      note(true, `${where} accepted the bind of a ${kindNames[command]}.`);
      clearTimeout(timer);
      timer = setTimeout(end, unbindMs);
      link?.send({ command: 'unbind', status: 0, sequence: unbindSequence });
    }
    function onRefused(status: number): void {
      fail('bind_refused', describeBindRefusal(where, status), status);
    }

    link = createLink({
      target,
      clock,
      log: createPduLog(clock),
      onConnected,
      onReady,
      onPdu,
      onQuiet: () => {},
      onNoise: (sentence) => fail('protocol', sentence),
      onEnded: (sentence) => failUnsaid('lost', sentence ?? `${where} closed the connection.`),
    });
  });
}

const kindNames: Record<BindCommand, string> = {
  bind_transceiver: 'transceiver',
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
};

function bindFields({ system_id, password = '', system_type, address_range }: SmppSettings) {
  return {
    systemId: system_id,
    password,
    systemType: system_type,
    interfaceVersion,
    addressTon: 0,
    addressNpi: 0,
    addressRange: address_range,
  };
}
