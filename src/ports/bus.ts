/** Events between replicas: small messages, at most once; the database holds what they announce. */

export interface Bus {
  publish(topic: string, payload: string): Promise<void>;
  subscribe(topic: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
