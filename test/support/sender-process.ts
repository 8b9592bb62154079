// A sender by SMPP in a process of its own, for tests that stop it. It submits texts and reports their outcomes.
import { createBindSupervisor } from '../../src/delivery/smpp/bind-supervisor.ts';
import { createPduLog } from '../../src/delivery/smpp/pdu-log.ts';
import { createSmppSender } from '../../src/delivery/smpp/sender.ts';
import { systemClock as clock } from '../../src/platform/clock.ts';
import { outgoingText } from './outgoing-texts.ts';
import { settingsWith } from './smpp-settings.ts';

const texts = Number(process.env.SENDER_TEXTS);
const given = settingsWith({ port: Number(process.env.SENDER_PORT), window: 1, password: 'secret' });
const settings = () => given;
const outcomes: string[] = [];
let hasBegun = false;

const supervisor = createBindSupervisor({
  slot: 1,
  settings,
  clock,
  log: createPduLog(clock),
  isAllowedAddress: () => true,
  onDeliver: () => Promise.resolve(0),
  onChange() {
    sender.pump();
    if (hasBegun || supervisor.state.state !== 'bound') return;
    hasBegun = true;
    void submit();
  },
});
const sender = createSmppSender({
  settings,
  clock,
  binds: () => [supervisor],
  onCapacity: () => {},
  onAccepted: () => {},
});

async function submit(): Promise<void> {
  const all = Array.from({ length: texts }, (_, n) => outgoingText({ messageId: `msg_${n}`, text: `text ${n}` }));
  await sender.submit(all, (index, { outcome }) => {
    outcomes[index] = outcome;
  });
  process.send?.(outcomes);
}
