import { Link } from 'wouter';
import { Icon } from '../parts/icon.tsx';
import { words } from '../words/integrations.tsx';
import styles from './integrations.module.css';

export function BackLink({ applicationId }: { applicationId: string }) {
  return (
    <Link href={`/applications/${applicationId}/integrations`} className={styles.back ?? ''}>
      <Icon name="back" size={16} /> {words.back}
    </Link>
  );
}
