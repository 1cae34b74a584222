/** The colour of a state that the venue describes by its tone. */

export const TONES = {
  neutral: 'gray',
  info: 'blue',
  success: 'green',
  warning: 'amber',
  danger: 'red',
} as const;
