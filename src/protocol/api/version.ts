/** The version of the API, which its paths (`/api/v1`), its document and every answer name. */
export const API_VERSION = '1';
