import { createContext, useContext, useEffect } from 'react';

/** Counts the loads of a page that have had no outcome yet. */
export interface FirstLoads {
  begin: () => void;
  end: () => void;
}

export const FirstLoadsContext = createContext<FirstLoads | undefined>(undefined);

/** Reports one load to the page around it: it begins when the part is shown and ends with its first outcome. */
export function useFirstLoad(settled: boolean): void {
  const loads = useContext(FirstLoadsContext);
  useEffect(() => {
    if (settled || loads === undefined) return;
    loads.begin();
    return loads.end;
  }, [settled, loads]);
}
