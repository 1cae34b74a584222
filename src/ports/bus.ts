/** Small messages between replicas, delivered at most once. The database holds the facts. */

export interface Bus {
  publish(topic: string, payload: string): Promise<void>;
  subscribe(topic: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
