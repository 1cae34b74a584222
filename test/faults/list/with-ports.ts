/** Source text of a map of chain ports in which one member of each port is replaced. */

export const withPorts = (map: string, change: string): string =>
  `new Map([...${map}].map(([id, port]) => [id, { ...port, ${change} }]))`;
