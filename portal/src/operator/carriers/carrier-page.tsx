import { Skeleton, Stack } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier } from '../../api/operator-types.ts';
import back from '../../applications/application-page.module.css';
import { Icon } from '../../parts/icon.tsx';
import { NotFound } from '../../parts/not-found.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/carriers.ts';
import { CarrierBinds } from './carrier-binds.tsx';
import { CarrierCallbacks } from './carrier-callbacks.tsx';
import { usePresets } from './carrier-kinds.ts';
import { CarrierLog } from './carrier-log.tsx';
import { CarrierSettings } from './carrier-settings.tsx';
import { CarrierState } from './carrier-state.tsx';
import { CarrierTestPanel } from './carrier-test.tsx';
import { DeleteCarrier } from './delete-carrier.tsx';
import { PauseButton } from './pause-button.tsx';
import { TryButton } from './try-button.tsx';
import { useTroubles } from './use-troubles.ts';

const refreshMs = 2000;

/** One carrier: its connections, a test, its settings and its log. */
export function CarrierPage({ name }: { name: string }) {
  const [, navigate] = useLocation();
  const showToast = useToast();
  const path = operatorPath(`carriers/${encodeURIComponent(name)}`);
  const presets = usePresets();
  const troubles = useTroubles()?.(name);
  const { data: carrier, problem, reload } = useLoad<Carrier>(path, refreshMs);
  if (problem?.status === 404) return <NotFound />;
  if (carrier === undefined || troubles === undefined) {
    return problem === undefined ? <Skeleton height={300} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }

  async function remove(force: boolean): Promise<void> {
    await call('DELETE', force ? `${path}?force=true` : path);
    showToast(`${name} deleted.`);
    navigate('/operator/carriers');
  }

  return (
    <>
      <Link href="/operator/carriers" className={back.back ?? ''}>
        <Icon name="back" size={16} /> {words.title}
      </Link>
      <PageTitle
        documentTitle={words.page.documentTitle(name)}
        lead={
          <>
            <CarrierState carrier={carrier} troubles={troubles} /> {words.page.version(carrier.kind, carrier.version)}
          </>
        }
        actions={
          <>
            <TryButton carrier={carrier} onChange={reload} />
            <PauseButton carrier={carrier} onChange={reload} />
            <DeleteCarrier name={name} remove={remove} />
          </>
        }
      >
        {name}
      </PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {troubles.map(({ kind, country, summary }) => (
          <Callout key={`${kind} ${country}`} tone="bad" quiet title={summary} />
        ))}
        {carrier.hint !== null && <Callout tone="wait" title={carrier.hint} />}
        <CarrierBinds carrier={carrier} />
        <CarrierTestPanel carrier={carrier} />
        {carrier.callbacks !== null && <CarrierCallbacks name={name} callbacks={carrier.callbacks} onChange={reload} />}
        {presets !== undefined && <CarrierSettings carrier={carrier} presets={presets} onChange={reload} />}
        <CarrierLog carrier={carrier} />
      </Stack>
    </>
  );
}
