/** The pricing parameters that were in force, one version after the other. Versions never change. */

export interface PricingVersion {
  n: number;
  atMs: number;
  who: string;
  note: string | null;
  /** The parameters that the configuration file set by pair, and those of single corridors. */
  parameters: Record<
    string,
    {
      params: Record<string, number | boolean>;
      corridorParams: Record<string, Record<string, number | boolean>>;
    }
  >;
}

export interface PricingVersions {
  append(version: Omit<PricingVersion, 'n'>): Promise<void>;
  /** Returns versions, newest first. */
  newest(limit: number): Promise<PricingVersion[]>;
  find(n: number): Promise<PricingVersion | undefined>;
}
