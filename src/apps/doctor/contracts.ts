/**
 * Checks the contracts at the configured addresses: whether there is code, and whether it is this version's.
 */

import type { DeployNode } from '../../adapters/evm/deploy/node.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import { keccakHex } from '../../domain/keccak.ts';
import { compilerVersion } from '../../settlement/abi/build.ts';
import { type Deployment, readDeployment } from '../config/deployment.ts';
import type { ChainSection } from '../config/parts.ts';

import { type ContractName, extensionOf } from '../deploy/contracts.ts';
import { addressIn, hasBuild } from './build.ts';
import { attempt, failure, ok, type Finding } from './finding.ts';

/** Names a contract of another's, or one of ours with its name in contracts/src. */
export interface Expected {
  option: string;
  address: Address;
  ours?: {
    name: ContractName;
    recorded?: Hex | undefined;
    escrow?: Address;
    factory?: Address;
    psm?: Address | null;
  };
}

const CHECK = 'contract';

/** Checks the contracts. `more`: those that only one kind of process uses. */
export async function checkContracts(
  section: ChainSection,
  node: DeployNode,
  more: readonly Expected[],
): Promise<Finding[]> {
  const { slug, escrow, oracle, permit2, quoteBond, deployment: file } = section;
  const record: Deployment | undefined = file === null ? undefined : readDeployment(file);
  const recorded = (key: 'escrow' | 'oracle' | 'quoteBond', address: Address) =>
    record?.contracts[key]?.address === address ? record.contracts[key]?.codeHash : undefined;
  const expected: Expected[] = [
    { option: 'escrow', address: escrow, ours: { name: 'Escrow', recorded: recorded('escrow', escrow) } },
    {
      option: 'oracle',
      address: oracle,
      ours: { name: 'AttestationOracle', recorded: recorded('oracle', oracle) },
    },
    { option: 'permit2', address: permit2 },
    ...(quoteBond === null
      ? []
      : [
          {
            option: 'quoteBond',
            address: quoteBond,
            ours: { name: 'QuoteBond' as const, recorded: recorded('quoteBond', quoteBond), escrow },
          },
        ]),
    ...more,
  ];
  const head = await node.headNumber();
  const rows = await Promise.all(
    expected.map((one) =>
      attempt(
        CHECK,
        `${slug} ${one.option}`,
        async () => {
          const code = await node.code(one.address, head);
          const finding = compared(slug, one, code);
          return one.ours?.name === 'Escrow' && finding.verdict === 'ok'
            ? extended(slug, one.address, code, (address) => node.code(address, head))
            : finding;
        },
        'Repair the endpoints of the chain',
      ),
    ),
  );
  return rows.flat();
}

/** An escrow runs the code of its extension on its own storage, so that must be ours too. */
async function extended(
  slug: string,
  escrow: Address,
  code: Hex,
  codeAt: (address: Address) => Promise<Hex>,
): Promise<Finding> {
  const [found, wanted] = [addressIn('Escrow', code, 'EXTENSION'), extensionOf(escrow)];
  const subject = `${slug} escrow`;
  if (found === wanted && hasBuild('EscrowExtension', await codeAt(wanted)))
    return ok(CHECK, subject, `Escrow at ${escrow}, with its extension at ${wanted}`);
  return failure(
    CHECK,
    subject,
    found === wanted
      ? `the code of its extension ${wanted} is not that of EscrowExtension of this version, built by solc ${compilerVersion}`
      : `its EXTENSION is ${found}, not ${wanted}, which its own constructor makes`,
    'Somebody else decides what this escrow does. Do not use this address',
  );
}

function compared(slug: string, { option, address, ours }: Expected, code: Hex): Finding {
  const subject = `${slug} ${option}`;
  if (code === '0x')
    return failure(
      CHECK,
      subject,
      `there is no code at ${address}`,
      ours ? 'Correct the address, or deploy it: firmquote deploy run' : 'Correct the address',
    );
  if (ours === undefined) return ok(CHECK, subject, `code at ${address}`);
  const { name, recorded, escrow, factory, psm = null } = ours;
  if (!hasBuild(name, code))
    return failure(
      CHECK,
      subject,
      `the code at ${address} is not that of ${name} of this version, built by solc ${compilerVersion}`,
      'Correct the address. If another version deployed it, run that version',
    );
  if (recorded !== undefined && keccakHex(code) !== recorded)
    return failure(
      CHECK,
      subject,
      `the code at ${address} is not the one in the record of the deployment`,
      'Its constructor had other arguments. Do not use this address, or run: firmquote deploy verify',
    );
  for (const [immutable, wanted] of [
    ['ESCROW', escrow],
    ['FACTORY', factory],
    ['PSM', psm ?? undefined],
  ] as const) {
    const found = wanted === undefined ? undefined : addressIn(name, code, immutable);
    if (wanted !== undefined && found !== wanted)
      return failure(
        CHECK,
        subject,
        `its ${immutable} is ${found}, not ${wanted}`,
        `It was deployed for another ${immutable.toLowerCase()}. Correct the address, or deploy one for this`,
      );
  }
  return ok(CHECK, subject, `${name} at ${address}`);
}
