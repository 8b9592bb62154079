import { words } from '../../words/docs.tsx';
import type { Field } from '../model/fields.ts';
import { Prose } from '../prose.tsx';
import styles from './field-list.module.css';

interface FieldListProps {
  fields: Field[];
  /** The group of the fields, like `body`: the first part of their addresses. */
  place: string;
  /** False for responses: they mark the fields that are not always present instead. */
  showRequired?: boolean;
}

/** Fields with their types, bounds and meaning. Each has an address of its own, like `#body-to`. */
export function FieldList({ fields, place, showRequired = true }: FieldListProps) {
  return (
    <ul className={styles.fields}>
      {fields.map((field) => (
        <FieldItem key={field.name} field={field} place={`${place}-${field.name}`} showRequired={showRequired} />
      ))}
    </ul>
  );
}

function FieldItem({ field, place, showRequired }: { field: Field; place: string; showRequired: boolean }) {
  return (
    <li className={styles.field} id={place}>
      <div className={styles.head}>
        <a href={`#${place}`} className={styles.name}>
          <code>{field.name}</code>
        </a>
        <span className={styles.type}>{field.type}</span>
        {showRequired && field.required && <span className={styles.required}>{words.field.required}</span>}
        {!showRequired && !field.required && <span className={styles.type}>{words.field.notAlways}</span>}
      </div>
      {field.description !== '' && (
        <p className={styles.about}>
          <Prose text={field.description} />
        </p>
      )}
      <Facts field={field} />
      {field.fields.length > 0 && (
        <details className={styles.within}>
          <summary>{words.field.fieldsOf(field.name)}</summary>
          <FieldList fields={field.fields} place={place} showRequired={showRequired} />
        </details>
      )}
    </li>
  );
}

function Facts({ field: { bounds, default: otherwise, values, pattern } }: { field: Field }) {
  if (bounds.length === 0 && otherwise === undefined && values.length === 0 && pattern === undefined) return null;
  return (
    <ul className={styles.facts}>
      {otherwise !== undefined && <li>{words.field.default(otherwise)}</li>}
      {bounds.map((bound) => (
        <li key={bound}>{bound}</li>
      ))}
      {values.length > 0 && (
        <li>
          {values.length === 1 ? words.field.always : words.field.oneOf}{' '}
          {values.map((value) => (
            <code key={value}>{value}</code>
          ))}
        </li>
      )}
      {pattern !== undefined && <li>{words.field.pattern(pattern)}</li>}
    </ul>
  );
}
