import { SegmentedControl } from '@mantine/core';
import type { EventType } from '../api/event-types.ts';
import { eventGroups, eventName, eventTypes } from '../events/event-names.ts';
import { Check } from '../parts/check.tsx';
import { words } from '../words/webhooks.tsx';
import styles from './webhooks.module.css';

/** The chosen event types; null for all. */
export type ChosenTypes = EventType[] | null;

/** The service reads an empty list as all events. */
export function chosenFrom(types: EventType[]): ChosenTypes {
  return types.length === 0 ? null : types;
}

interface TypeChoiceProps {
  chosen: ChosenTypes;
  onChange: (chosen: ChosenTypes) => void;
  error?: string | undefined;
}

export function TypeChoice({ chosen, onChange, error }: TypeChoiceProps) {
  const toggle = (type: EventType, wanted: boolean) =>
    onChange(eventTypes.filter((each) => (each === type ? wanted : chosen?.includes(each))));
  return (
    <fieldset className={styles.types}>
      <legend>{words.events}</legend>
      <SegmentedControl
        aria-label={words.types.which}
        value={chosen === null ? 'all' : 'some'}
        onChange={(value) => onChange(value === 'all' ? null : [])}
        data={[
          { value: 'all', label: words.types.all },
          { value: 'some', label: words.types.some },
        ]}
      />
      {chosen !== null && (
        <div className={styles.groups}>
          {eventGroups.map(({ title, types }) => (
            <fieldset key={title} className={styles.group}>
              <legend>{title}</legend>
              {types.map((type) => (
                <Check
                  key={type}
                  label={<code>{type}</code>}
                  description={eventName(type)}
                  checked={chosen.includes(type)}
                  onChange={(wanted) => toggle(type, wanted)}
                />
              ))}
            </fieldset>
          ))}
        </div>
      )}
      {error !== undefined && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
