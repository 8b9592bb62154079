import { ActionIcon } from '@mantine/core';
import type { RouteRule } from '../../api/operator-types.ts';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { Tag } from '../../parts/status.tsx';
import { words } from '../../words/operator/routes.ts';
import styles from './routes.module.css';
import { extrasOf, matchText, sharesOf } from './rule-text.ts';

interface RuleCardProps {
  rule: RouteRule;
  position: number;
  count: number;
  /** Whether the explained text matches this rule. */
  matching: boolean;
  onEdit: () => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

/** A rule in the list, in words. */
export function RuleCard({ rule, position, count, matching, onEdit, onMove, onRemove }: RuleCardProps) {
  const { name } = rule;
  return (
    <li className={styles.rule} data-matching={matching || undefined}>
      <span className={styles.position}>{position}</span>
      <div>
        <h2 className={styles.name}>
          {name} {matching && <Tag tone="calm">{words.rules.matches}</Tag>}
        </h2>
        <p className={styles.text}>{matchText(rule)}</p>
        <div className={styles.carriers}>
          {sharesOf(rule).map((share) => (
            <Tag key={share} tone="calm">
              {share}
            </Tag>
          ))}
        </div>
        {extrasOf(rule).map((extra) => (
          <p key={extra} className={styles.text}>
            {extra}
          </p>
        ))}
      </div>
      <div className={styles.buttons}>
        <RuleButton icon="up" label={words.rules.up(name)} disabled={position === 1} onClick={() => onMove(-1)} />
        <RuleButton
          icon="down"
          label={words.rules.down(name)}
          disabled={position === count}
          onClick={() => onMove(1)}
        />
        <RuleButton icon="edit" label={words.rules.edit(name)} onClick={onEdit} />
        <RuleButton icon="cross" label={words.rules.remove(name)} onClick={onRemove} />
      </div>
    </li>
  );
}

interface RuleButtonProps {
  icon: IconName;
  label: string;
  disabled?: boolean;
  onClick: () => void;
}

function RuleButton({ icon, label, disabled = false, onClick }: RuleButtonProps) {
  return (
    <ActionIcon variant="default" size="lg" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} size={16} />
    </ActionIcon>
  );
}
