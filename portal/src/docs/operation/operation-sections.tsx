import type { ReactNode } from 'react';
import { words } from '../../words/docs.tsx';
import type { Answer, Operation, Parameter } from '../model/operations.ts';
import type { ShownAnswer } from './answer-card.tsx';
import { CredentialText } from './credential-text.tsx';
import { ErrorList } from './error-list.tsx';
import { FieldList } from './field-list.tsx';
import styles from './operation-page.module.css';

/** The parameters, responses and errors of the call. */
export function OperationSections({ operation, show }: { operation: Operation; show: (shown: ShownAnswer) => void }) {
  const { parameters, body, answers, errors } = operation;
  return (
    <>
      <Section id="credential" title={words.section.credential}>
        <CredentialText operation={operation} />
      </Section>
      <Parameters parameters={parameters} place="path" title={words.section.path} />
      <Parameters parameters={parameters} place="query" title={words.section.query} />
      {body !== undefined && (
        <Section id="body" title={body.kind === 'form' ? words.section.form : words.section.body}>
          <FieldList fields={body.fields} place="body" />
        </Section>
      )}
      <Parameters parameters={parameters} place="header" title={words.section.headers} />
      {answers.filter(isGood).map((answer) => (
        <Section key={answer.status} id={`answer-${answer.status}`} title={words.section.response(answer.status)}>
          <p>{answer.description}.</p>
          <FieldList fields={answer.fields} place={`answer-${answer.status}`} showRequired={false} />
          <Headers answer={answer} />
        </Section>
      ))}
      <Section id="errors" title={words.section.errors}>
        <ErrorList errors={errors} show={show} />
      </Section>
    </>
  );
}

function Parameters({ parameters, place, title }: { parameters: Parameter[]; place: string; title: string }) {
  const fields = parameters.filter((each) => each.place === place).map(({ field }) => field);
  if (fields.length === 0) return null;
  return (
    <Section id={place} title={title}>
      <FieldList fields={fields} place={place} />
    </Section>
  );
}

function isGood({ status }: Answer): boolean {
  return status.startsWith('2') || status.startsWith('3');
}

function Section({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section className={styles.section} aria-labelledby={`${id}-title`} id={id}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

function Headers({ answer: { headers } }: { answer: Answer }) {
  if (headers.length === 0) return null;
  return (
    <details className={styles.headers}>
      <summary>{words.section.responseHeaders}</summary>
      <dl>
        {headers.map(({ name, description, example }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              {description}
              {example !== '' && <>{words.section.example(example)}</>}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
