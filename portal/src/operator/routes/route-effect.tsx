import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { call, operatorPath } from '../../api/call.ts';
import type { RouteEffect as Effect, RouteRule } from '../../api/operator-types.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { words as allWords } from '../../words/operator/routes.ts';
import styles from './routes.module.css';

const words = allWords.effect;
const mostShown = 5;
const count = new Intl.NumberFormat();

interface RouteEffectProps {
  rules: RouteRule[];
  /** There were no rules before, and every text was sent. */
  isFirst: boolean;
  onAddRest: () => void;
}

/** What the rules would have done to the texts of the last day, and a rule for those that match none. */
export function RouteEffect({ rules, isFirst, onAddRest }: RouteEffectProps) {
  const [effect, setEffect] = useState<Effect | undefined>(undefined);
  const asked = JSON.stringify(rules);
  useEffect(() => {
    let current = true;
    // A draft with an error has no effect to show; saving it reports the error.
    call<Effect>('POST', operatorPath('routes/effect'), { body: { routes: JSON.parse(asked) } })
      .then((found) => current && setEffect(found))
      .catch(() => current && setEffect(undefined));
    return () => {
      current = false;
    };
  }, [asked]);
  const hasRest = rules.some(({ match }) => Object.values(match).every((list) => list.length === 0));
  const refused = effect?.refused ?? 0;
  if (rules.length === 0 || hasRest || (!isFirst && refused === 0)) return null;
  return (
    <Callout tone="wait" title={isFirst ? words.first : words.later}>
      {isFirst && <p className={styles.text}>{words.firstDetail}</p>}
      <p className={styles.text}>{effect === undefined ? words.counting : effectText(effect)}</p>
      <Button variant="default" size="sm" mt="xs" onClick={onAddRest}>
        {words.addRest}
      </Button>
    </Callout>
  );
}

function effectText({ texts, refused, unsure, countries }: Effect): string {
  if (refused === 0) return texts === 0 ? words.noTexts : words.noneRefused(count.format(texts));
  const named = countries.filter((each) => each.refused > 0);
  const list = named
    .slice(0, mostShown)
    .map(({ country, refused: texts }) => words.country(country ?? words.noCountry, count.format(texts)));
  const more = named.length > mostShown ? [words.more(named.length - mostShown)] : [];
  const also = unsure > 0 ? ` ${words.unsure(count.format(unsure))}` : '';
  return `${words.refused(count.format(refused), count.format(texts), [...list, ...more].join(', '))}${also}`;
}
