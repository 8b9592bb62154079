import { words } from '../../words/docs.tsx';
import { Code } from '../code.tsx';
import type { Answer, Operation } from '../model/operations.ts';
import { Prose } from '../prose.tsx';
import { TabRow } from '../tab-row.tsx';
import styles from './card.module.css';

/** Which example is shown. */
export interface ShownAnswer {
  status: string;
  /** The code of an error; the first one if undefined. */
  code: string | undefined;
}

interface AnswerCardProps {
  operation: Operation;
  shown: ShownAnswer;
  show: (shown: ShownAnswer) => void;
}

/** An example of every response, errors included. */
export function AnswerCard({ operation: { answers }, shown, show }: AnswerCardProps) {
  const answer = answers.find(({ status }) => status === shown.status) ?? answers[0];
  if (answer === undefined) return null;
  const example = answer.examples.find(({ name }) => name === shown.code) ?? answer.examples[0];
  const tabs = answers.map(({ status }) => ({ name: status, title: <StatusTitle status={status} /> }));
  return (
    <section className={styles.card} aria-labelledby="answers-title">
      <h2 className={styles.title} id="answers-title">
        {words.response.title}
      </h2>
      <TabRow
        label={words.response.status}
        tabs={tabs}
        chosen={answer.status}
        choose={(status) => show({ status, code: undefined })}
      >
        <p className={styles.note}>
          <Prose text={about(answer, example?.name)} />
        </p>
        {answer.examples.length > 1 && (
          <div className={styles.codes}>
            {answer.examples.map(({ name }) => (
              <button
                key={name}
                type="button"
                className={styles.code}
                aria-pressed={name === example?.name}
                onClick={() => show({ status: answer.status, code: name })}
              >
                {name}
              </button>
            ))}
          </div>
        )}
        {example === undefined ? (
          <p className={styles.note}>{words.response.noBody}</p>
        ) : (
          <Code {...codeOf(example.value)} what={words.response.copy(answer.status)} />
        )}
      </TabRow>
    </section>
  );
}

function StatusTitle({ status }: { status: string }) {
  const tone = status.startsWith('2') ? 'good' : status === '429' ? 'wait' : 'bad';
  return (
    <>
      <span className={styles.dot} data-tone={tone} />
      {status === 'default' ? words.response.other : status}
    </>
  );
}

/** The description of the shown code, for a status with several codes. */
function about({ description }: Answer, code: string | undefined): string {
  const said = new RegExp(`\`${code}\`: [^\`]+`).exec(description)?.[0];
  return said?.trim() ?? description;
}

function codeOf(value: unknown): { text: string; language: string } {
  return typeof value === 'string'
    ? { text: value, language: 'text' }
    : { text: JSON.stringify(value, null, 2), language: 'json' };
}
