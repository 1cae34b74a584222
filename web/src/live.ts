/** Figures that are read again and again, and how old they are. */

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Answers, read } from './api.ts';

const EVERY_MS = 2_000;
/** Three reads that did not come: from here on a figure is shown as old. */
const OLD_MS = 7_000;

export function useLive<Path extends keyof Answers>(
  path: Path,
  { rest = '', everyMs = EVERY_MS, enabled = true } = {},
) {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: [path, rest],
    queryFn: () => read(path, rest),
    enabled,
    refetchInterval: everyMs,
    refetchIntervalInBackground: false,
  });
  const nowMs = useNow();
  const oldMs = OLD_MS - EVERY_MS + everyMs;
  return { data, error, readAtMs: dataUpdatedAt, old: data !== undefined && nowMs - dataUpdatedAt > oldMs };
}

/** Returns the Unix ms, renewed each second. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
