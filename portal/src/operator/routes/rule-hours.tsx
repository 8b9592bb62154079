import { TextInput } from '@mantine/core';
import type { RouteRule } from '../../api/operator-types.ts';
import { Check } from '../../parts/check.tsx';
import { words } from '../../words/operator/routes.ts';
import styles from './routes.module.css';

const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

interface HoursFieldsProps {
  hours: RouteRule['hours'];
  onChange: (hours: RouteRule['hours']) => void;
}

/** The hours in which texts may be sent. They do not apply to verifications and texts of high priority. */
export function HoursFields({ hours, onChange }: HoursFieldsProps) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <fieldset className={styles.group}>
      <legend>{words.hours.title}</legend>
      <Check
        label={words.hours.only}
        description={words.hours.rule}
        checked={hours !== null}
        onChange={(checked) => onChange(checked ? { from: '08:00', to: '20:00', days: [], zone } : null)}
      />
      {hours !== null && (
        <>
          <div className={styles.fields}>
            <TextInput
              label={words.hours.from}
              value={hours.from}
              onChange={(event) => onChange({ ...hours, from: event.currentTarget.value })}
            />
            <TextInput
              label={words.hours.to}
              value={hours.to}
              onChange={(event) => onChange({ ...hours, to: event.currentTarget.value })}
            />
            <TextInput
              label={words.hours.zone}
              value={hours.zone}
              onChange={(event) => onChange({ ...hours, zone: event.currentTarget.value })}
            />
          </div>
          <div className={styles.checks}>
            {weekDays.map((day) => (
              <Check
                key={day}
                label={day}
                checked={hours.days.length === 0 || hours.days.includes(day)}
                onChange={(checked) => onChange({ ...hours, days: withDay(hours.days, day, checked) })}
              />
            ))}
          </div>
        </>
      )}
    </fieldset>
  );
}

/** An empty list means every day. */
function withDay(days: string[], day: string, checked: boolean): string[] {
  const all = days.length === 0 ? weekDays : days;
  const next = weekDays.filter((each) => (each === day ? checked : all.includes(each)));
  return next.length === weekDays.length ? [] : next;
}
