import { Icon } from '../parts/icon.tsx';
import { words } from '../words/integrations.tsx';
import shared from './integrations.module.css';
import styles from './kind-choice.module.css';
import { type HookKind, hookKinds } from './kinds.ts';

/** The servers to choose from. */
export function KindChoice({ onChoose }: { onChoose: (kind: HookKind) => void }) {
  return (
    <ul className={styles.choice} aria-label={words.list.choose}>
      {hookKinds.map((kind) => (
        <li key={kind}>
          <button type="button" onClick={() => onChoose(kind)}>
            <span>
              <strong>{kind === 'generic' ? words.list.other : words.kinds[kind].title}</strong>
              <span className={shared.quiet}>{words.kinds[kind].about}</span>
            </span>
            <Icon name="arrow" size={16} />
          </button>
        </li>
      ))}
    </ul>
  );
}
