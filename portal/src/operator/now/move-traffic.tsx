import { Button, Group, Modal, NativeSelect, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { call, operatorPath } from '../../api/call.ts';
import type { RouteTable } from '../../api/operator-types.ts';
import { Check } from '../../parts/check.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/now.ts';
import { diffRoutes } from '../routes/route-diff.ts';
import routes from '../routes/routes.module.css';
import { RuleChangeList } from '../routes/rule-change-list.tsx';
import { matchText } from '../routes/rule-text.ts';
import { movedRules, namesCarrier } from './moved-rules.ts';

const { move } = words;

interface MoveTrafficProps {
  /** The carrier that loses its texts. */
  from: string;
  paused: boolean;
  /** All carriers, in order. */
  carriers: readonly { name: string; state: string; paused: boolean }[];
  onDone: () => void;
}

/** The button, and the dialog that shows what would change before it acts. */
export function MoveTrafficButton(props: MoveTrafficProps) {
  const [open, setOpen] = useState(false);
  const label = move.button;
  return (
    <>
      <Button variant="default" size="xs" aria-label={move.about(props.from)} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={move.title(props.from)}
        size="lg"
        closeButtonProps={{ 'aria-label': move.close }}
      >
        {open && <MoveTraffic {...props} onClose={() => setOpen(false)} />}
      </Modal>
    </>
  );
}

function MoveTraffic(props: MoveTrafficProps & { onClose: () => void }) {
  const { from, carriers } = props;
  const table = useLoad<RouteTable>(operatorPath('routes'));
  if (table.data === undefined) {
    return table.problem === undefined ? (
      <Skeleton height={220} />
    ) : (
      <ProblemCallout problem={table.problem} onRetry={table.reload} />
    );
  }
  const others = carriers.filter(({ name }) => name !== from);
  const [first] = others.filter(({ paused, state }) => !paused && state === 'up');
  const next = first?.name ?? others[0]?.name;
  if (next === undefined)
    return (
      <Callout tone="wait" title={move.alone(from)}>
        {move.aloneNext}
      </Callout>
    );
  if (table.data.routes.length === 0) return <NoRules from={from} next={first?.name} />;
  if (!table.data.routes.some((rule) => namesCarrier(rule, from)))
    return (
      <Callout tone="calm" title={move.unnamed(from)}>
        {move.unnamedDetail}
      </Callout>
    );
  return <Review {...props} table={table.data} reload={table.reload} others={others} next={next} />;
}

/** Without rules no change of a rule can move texts; a pause can. */
function NoRules({ from, next }: { from: string; next: string | undefined }) {
  return (
    <Callout tone="calm" title={move.noRules}>
      {next === undefined ? move.noRulesAlone : move.noRulesNext(from, next)}{' '}
      <Link href="/operator/routes">{move.openRoutes}</Link>
    </Callout>
  );
}

interface ReviewProps extends MoveTrafficProps {
  table: RouteTable;
  others: MoveTrafficProps['carriers'];
  next: string;
  reload: () => void;
  onClose: () => void;
}

function Review({ from, paused, table, others, next, reload, onDone, onClose }: ReviewProps) {
  const showToast = useToast();
  const [to, setTo] = useState(next);
  const [left, setLeft] = useState<readonly string[]>([]);
  const [pausing, setPausing] = useState(false);
  const named = table.routes.filter((rule) => namesCarrier(rule, from));
  const chosen = new Set(named.map(({ name }) => name).filter((name) => !left.includes(name)));
  const after = movedRules(table.routes, from, to, chosen);
  const { run, busy, problem } = useAction(async () => {
    await call('PUT', operatorPath('routes'), { body: { version: table.version, routes: after } });
    if (pausing && !paused) await call('POST', operatorPath(`carriers/${from}/pause`));
    showToast(move.done(from, to));
    onClose();
    onDone();
  });
  const target = others.find(({ name }) => name === to);
  const isReady = target !== undefined && !target.paused && target.state === 'up';
  return (
    <Stack>
      <NativeSelect
        label={move.to}
        data={others.map(({ name, state, paused: rests }) => ({
          value: name,
          label: move.option(name, rests ? 'paused' : state.replaceAll('_', ' ')),
        }))}
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
        data-autofocus
      />
      {!isReady && <Callout tone="wait" title={move.notReady(to)} />}
      <fieldset className={routes.group}>
        <legend>{move.rules}</legend>
        {named.map((rule) => (
          <Check
            key={rule.name}
            label={move.rule(rule.name, matchText(rule))}
            checked={chosen.has(rule.name)}
            onChange={(checked) => setLeft(checked ? left.filter((name) => name !== rule.name) : [...left, rule.name])}
          />
        ))}
      </fieldset>
      <section aria-label={move.changes}>
        <RuleChangeList changes={diffRoutes(table.routes, after)} />
      </section>
      <p className={routes.text}>{move.effect(from, to)}</p>
      {!paused && <Check label={move.pause(from)} checked={pausing} onChange={setPausing} />}
      {problem?.status === 409 ? (
        <Callout tone="wait" title={move.outdated}>
          <Button variant="default" size="xs" onClick={reload}>
            {move.reload}
          </Button>
        </Callout>
      ) : (
        <ProblemCallout problem={problem} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {move.cancel}
        </Button>
        <Button loading={busy} disabled={chosen.size === 0} onClick={() => run()}>
          {move.act(chosen.size, to)}
        </Button>
      </Group>
    </Stack>
  );
}
