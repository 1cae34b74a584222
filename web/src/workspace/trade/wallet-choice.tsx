/** The wallets of the browser to connect, or the one that is connected. */

import { Button, Flex, Text } from '@radix-ui/themes';
import { type Announced, type Connected, useWallets } from './wallets.ts';

export function WalletChoice({
  wallet,
  connect,
}: {
  wallet: Connected | undefined;
  connect(announced: Announced): void;
}) {
  const wallets = useWallets();
  return (
    <Flex gap="2" wrap="wrap" mb="3" align="center">
      {wallet !== undefined ? (
        <Text size="2" className="breaks">
          {wallet.name}: {wallet.address}
        </Text>
      ) : wallets.length === 0 ? (
        <Text size="2">No wallet has announced itself. Install a browser wallet, and reload.</Text>
      ) : (
        wallets.map((each) => (
          <Button
            key={each.info.uuid}
            variant="soft"
            className="rt-high-contrast"
            onClick={() => connect(each)}
          >
            Connect {each.info.name}
          </Button>
        ))
      )}
    </Flex>
  );
}
