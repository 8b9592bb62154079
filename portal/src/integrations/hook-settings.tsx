import type { HookDetail } from '../api/types.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { words as allWords } from '../words/integrations.tsx';
import styles from './integrations.module.css';
import { sampleOf } from './samples/of-hook.ts';

const words = allWords.settings;

interface HookSettingsProps {
  hook: Pick<HookDetail, 'kind' | 'url' | 'pointers' | 'settings'>;
  /** Undefined once it can no longer be shown. */
  secret?: string;
}

/** What to paste at the server, each with a button that copies it. */
export function HookSettings({ hook, secret }: HookSettingsProps) {
  const sample = sampleOf(hook, secret ?? words.yourSecret);
  return (
    <>
      {sample?.name !== 'kratos' && (
        <dl className={styles.settings}>
          {hook.settings.map(({ name, value }) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                {value.includes(words.written) ? (
                  <p className={styles.hidden}>{words.hidden}</p>
                ) : (
                  <CodeBlock what={words.copy(name)} text={value} />
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {sample !== undefined && (
        <div>
          <h3 className={styles.label}>{words.samples[sample.name]}</h3>
          {secret === undefined && sample.text.includes(words.yourSecret) && (
            <p className={styles.hint}>{words.putSecret}</p>
          )}
          <CodeBlock what={words.copySample} text={sample.text} />
        </div>
      )}
    </>
  );
}
