/**
 * How many rows one array of a table in pages has. Whatever has an entry for each quote is made a page larger
 * at the same quote, all tables at once, and new memory costs the system ten microseconds or more for each 4
 * KB of it: with pages of 4,096 rows that was 5 MB, and the loop stood still for 12 ms. With these it is a
 * few hundred KB at a time, and with much smaller ones a collector of memory has too many arrays to look
 * after.
 */

export const PAGE_BITS = 8;
export const PAGE_ROWS = 1 << PAGE_BITS;
/** The bits of a row's number that say where in its page it stands. */
export const IN_PAGE = PAGE_ROWS - 1;
