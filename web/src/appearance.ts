/** Chooses light or dark: the system's setting holds until the user chooses. */

import { useEffect, useState } from 'react';

const DARK = '(prefers-color-scheme: dark)';
const KEPT = 'firmquote-appearance';

export function useAppearance() {
  const [kept, setKept] = useState(() => localStorage.getItem(KEPT));
  const [system, setSystem] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const media = matchMedia(DARK);
    const changed = () => setSystem(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  const dark = kept === null ? system : kept === 'dark';
  return {
    dark,
    turn() {
      const next = dark ? 'light' : 'dark';
      localStorage.setItem(KEPT, next);
      setKept(next);
    },
  };
}
