/** TypeScript 5, whose compiler openapi-typescript calls as a library; TypeScript 7 has no such library. */

export { ts as default } from '@ts-morph/common';
