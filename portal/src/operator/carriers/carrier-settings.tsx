import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call, operatorPath } from '../../api/call.ts';
import type { Carrier, Preset } from '../../api/operator-types.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/carriers.ts';
import { groupsOf } from './carrier-kinds.ts';
import { secretsToType } from './secrets-again.ts';
import { patchBetween, type SettingsDraft, toDraft, toSettings } from './settings-draft.ts';
import { SettingsForm, shownFields } from './settings-form.tsx';

interface CarrierSettingsProps {
  carrier: Carrier;
  presets: Preset[];
  onChange: () => void;
}

/** Changes the settings of a carrier. Only changed settings are sent, so stored secrets stay. */
export function CarrierSettings({ carrier, presets, onChange }: CarrierSettingsProps) {
  const groups = groupsOf(carrier.kind, carrier.settings.preset, presets);
  const showToast = useToast();
  const [begun, setBegun] = useState(() => ({ version: carrier.version, first: toDraft(carrier.settings, groups) }));
  const { first } = begun;
  const [draft, setDraft] = useState<SettingsDraft>(first);
  const [unfit, setUnfit] = useState<string | undefined>(undefined);
  const { run, busy, problem } = useAction(async (settings: object) => {
    const saved = await call<Carrier>('PATCH', operatorPath(`carriers/${carrier.name}`), { body: { settings } });
    showToast(words.settings.saved);
    begin(saved);
    onChange();
  });

  // Without changes of their own, operators see the newest settings.
  const isOutdated = carrier.version > begun.version;
  if (draft === first && isOutdated) begin(carrier);

  function begin({ version, settings }: Carrier): void {
    const newest = toDraft(settings, groups);
    setBegun({ version, first: newest });
    setDraft(newest);
  }

  const stored = keptSecrets(carrier.settings);
  const patchOf = () => patchBetween(toSettings(first, groups), toSettings(draft, groups));
  const again = secretsToType(orUndefined(patchOf), stored);

  function submit(event: FormEvent): void {
    event.preventDefault();
    setUnfit(undefined);
    try {
      const patch = patchOf();
      if (patch === undefined) showToast(words.settings.unchanged);
      else if (again.length === 0) run(patch);
    } catch (error) {
      setUnfit((error as Error).message);
    }
  }

  return (
    <Panel title={words.settings.title} lead={words.settings.lead}>
      <form onSubmit={submit} noValidate>
        <Stack gap="lg">
          <SettingsForm
            groups={groups}
            draft={draft}
            onChange={setDraft}
            problem={problem}
            kept={stored}
            again={again}
          />
          {isOutdated && (
            <Callout tone="wait" title={words.settings.outdated}>
              {words.settings.outdatedDetail}
            </Callout>
          )}
          {again.length > 0 && <Callout tone="wait" title={words.settings.secretsAgain} />}
          {unfit !== undefined && <Callout tone="bad" title={unfit} />}
          <ProblemCallout problem={problem} fields={shownFields(groups)} />
          <Group>
            <Button type="submit" loading={busy}>
              {words.settings.save}
            </Button>
            {draft !== first && (
              <Button variant="default" onClick={() => setDraft(first)}>
                {words.settings.undo}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

/** JSON that is still being typed may be invalid. */
function orUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** `password_set: true` means that there is a password. */
function keptSecrets(settings: Record<string, unknown>, path = ''): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (name.endsWith('_set'))
      return value === true || (Array.isArray(value) && value.length > 0)
        ? [`${path}${name.slice(0, -'_set'.length)}`]
        : [];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? keptSecrets(value as Record<string, unknown>, `${path}${name}.`) : [];
  });
}
