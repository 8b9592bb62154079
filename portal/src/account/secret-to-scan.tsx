import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { encode } from 'uqr';
import { CodeBlock } from '../parts/code-block.tsx';
import { words } from '../words/account.ts';
import styles from './account.module.css';

export interface FactorSecret {
  secret: string;
  uri: string;
}

/** The secret for an authenticator app, as a picture to scan and as text to type. */
export function SecretToScan({ secret, children }: { secret: FactorSecret; children: ReactNode }) {
  return (
    <div className={styles.setup}>
      <QrCode text={secret.uri} />
      <Stack>
        <Text>{words.scan.first}</Text>
        <CodeBlock what={words.scan.copy} text={secret.secret} />
        <Text>{words.scan.second}</Text>
        {children}
      </Stack>
    </div>
  );
}

function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 1 });
  const dark = data.flatMap((row, y) => row.flatMap((on, x) => (on ? `M${x} ${y}h1v1h-1z` : [])));
  return (
    <svg
      className={styles.code}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={words.scan.picture}
      shapeRendering="crispEdges"
    >
      <path d={dark.join('')} fill="currentColor" />
    </svg>
  );
}
