import { Skeleton } from '@mantine/core';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { type FirstLoads, FirstLoadsContext } from '../session/first-loads.ts';

/** Longer than usual loads take. A part that is later than this may move the others. */
const maxWaitMs = 3000;

/** Shows its parts together, after their first loads: a part that appears late would move what a person reads. */
export function Steady({ height, children }: { height: number; children: ReactNode }) {
  const [shown, setShown] = useState(false);
  const loads = useMemo(() => createFirstLoads(() => setShown(true)), []);
  useEffect(() => {
    loads.check();
    const timer = setTimeout(() => setShown(true), maxWaitMs);
    return () => clearTimeout(timer);
  }, [loads]);
  return (
    <FirstLoadsContext value={loads}>
      {!shown && <Skeleton height={height} />}
      <div style={shown ? undefined : { display: 'none' }}>{children}</div>
    </FirstLoadsContext>
  );
}

/** `whenNone` runs once no load is under way, after `check`. */
function createFirstLoads(whenNone: () => void): FirstLoads & { check: () => void } {
  let underWay = 0;
  let checked = false;
  const check = () => {
    if (checked && underWay === 0) whenNone();
  };
  return {
    begin: () => {
      underWay++;
    },
    end: () => {
      underWay--;
      check();
    },
    check: () => {
      checked = true;
      check();
    },
  };
}
