/** Reads event logs by ABI. */

import {
  type Abi,
  type ContractEventName,
  decodeEventLog,
  type DecodeEventLogParameters,
  type DecodeEventLogReturnType,
  encodeEventTopics,
  type EncodeEventTopicsParameters,
} from 'viem';
import type { Hex } from '../../../domain/hex.ts';

interface Log {
  topics: readonly Hex[];
  data: Hex;
}

type EventArgs<TAbi extends Abi, TName extends ContractEventName<TAbi>> = DecodeEventLogReturnType<
  TAbi,
  TName,
  [Hex, ...Hex[]],
  Hex
>['args'];

/** The first topic of an event's logs. */
export function topicOf<const TAbi extends Abi>(abi: TAbi, eventName: ContractEventName<TAbi>): Hex {
  const [topic] = encodeEventTopics({ abi, eventName } as EncodeEventTopicsParameters);
  return topic as Hex;
}

/** Decodes the logs of one event, and leaves out all others. */
export function eventsOf<const TAbi extends Abi, TName extends ContractEventName<TAbi>>(
  logs: readonly Log[],
  abi: TAbi,
  eventName: TName,
): EventArgs<TAbi, TName>[] {
  const topic = topicOf(abi, eventName);
  return logs.filter(({ topics }) => topics[0] === topic).map((log) => argsOf(log, abi, eventName));
}

/** Throws when the log is none of the event. */
export const argsOf = <const TAbi extends Abi, TName extends ContractEventName<TAbi>>(
  { topics, data }: Log,
  abi: TAbi,
  eventName: TName,
): EventArgs<TAbi, TName> =>
  decodeEventLog({ abi, eventName, topics, data } as unknown as DecodeEventLogParameters).args as EventArgs<
    TAbi,
    TName
  >;
