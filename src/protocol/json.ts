/** The type of what JSON has carried, for readers of an API whose answers are typed where they are made. */

/** bigints become decimal texts; all else stays. */
export type Json<T> = T extends bigint ? string : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T;
