/** Where the venue's tables are in its database: one place, because the command line opens them too. */

export const VENUE_SCHEMA = 'venue';
