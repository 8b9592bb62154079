import { TextInput } from '@mantine/core';
import type { Problem } from '../api/problem.ts';
import { words as allWords } from '../words/integrations.tsx';
import shared from './integrations.module.css';
import { type HookKind, nameOf } from './kinds.ts';
import styles from './pointer-fields.module.css';
import { type PointerName, pointerNames, pointersFrom } from './pointers.ts';
import { samplePayload } from './samples/payload.ts';

const words = allWords.form;

interface PointerFieldsProps {
  kind: HookKind;
  typed: Record<PointerName, string>;
  setTyped: (typed: Record<PointerName, string>) => void;
  problem: Problem | undefined;
}

/** Where the payload has each field. Folded for servers other than `generic`, because these have default pointers. */
export function PointerFields(props: PointerFieldsProps) {
  const { kind, typed } = props;
  if (kind === 'generic') return <Fields {...props} rule={words.pointersRule} />;
  return (
    <details className={styles.details} open={pointersFrom(typed) !== null}>
      <summary>{words.more}</summary>
      <Fields {...props} rule={`${words.pointersRule} ${words.pointersKnown(nameOf(kind))}`} />
    </details>
  );
}

function Fields({ typed, setTyped, problem, rule }: PointerFieldsProps & { rule: string }) {
  const pointers = pointersFrom(typed);
  const labels = allWords.pointers;
  return (
    <fieldset className={styles.pointers}>
      <legend>{words.pointers}</legend>
      <p className={shared.quiet}>{rule}</p>
      <div className={styles.fields}>
        {pointerNames.map((name) => (
          <TextInput
            key={name}
            label={labels[name]}
            placeholder={words.samples[name]}
            autoComplete="off"
            spellCheck={false}
            value={typed[name]}
            onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
            error={problem?.of(`pointers.${name}`, labels[name])}
          />
        ))}
      </div>
      {pointers !== null && (
        <>
          <p className={shared.label}>{words.payload}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
          <pre className={styles.payload} tabIndex={0}>
            {JSON.stringify(samplePayload(pointers), null, 2)}
          </pre>
        </>
      )}
    </fieldset>
  );
}
