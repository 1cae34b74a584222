/** The frame that both consoles share: sign-in form, header, navigation, connection state, light and dark. */

import {
  Badge,
  Button,
  Callout,
  Card,
  Container,
  Flex,
  Heading,
  TextField,
  Text,
  Theme,
} from '@radix-ui/themes';
import { Link } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext } from 'react';
import { useAppearance } from '../appearance.ts';

const AppearanceContext = createContext<ReturnType<typeof useAppearance>>({ dark: false, turn() {} });

export function Shell({ children }: { children: ReactNode }) {
  const appearance = useAppearance();
  return (
    <AppearanceContext value={appearance}>
      <Theme appearance={appearance.dark ? 'dark' : 'light'} accentColor="indigo" radius="medium">
        <Container size="4" px="4" className="frame">
          {children}
        </Container>
      </Theme>
    </AppearanceContext>
  );
}

/**
 * Shows the sign-in. `fields`: one password field for each secret. Nothing can be sent while all are empty.
 */
export function SignInForm<Name extends string>({
  title,
  note,
  label,
  fields,
  values,
  setValues,
  send,
}: {
  title: string;
  note?: string;
  /** The label of the button. */
  label: string;
  fields: readonly { name: Name; label: string; autoComplete: string }[];
  values: Readonly<Record<Name, string>>;
  setValues(values: Record<Name, string>): void;
  send: { mutate(): void; isPending: boolean; error: Error | null };
}) {
  return (
    <Flex justify="center" mt="9" asChild>
      <main>
        <Card size="3">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              send.mutate();
            }}
          >
            <Flex direction="column" gap="3" maxWidth="400px">
              <Heading as="h1" size="5">
                {title}
              </Heading>
              {fields.map((field) => (
                <Text key={field.name} as="label" size="2">
                  {field.label}
                  <TextField.Root
                    mt="1"
                    type="password"
                    autoComplete={field.autoComplete}
                    value={values[field.name]}
                    onChange={(event) => setValues({ ...values, [field.name]: event.target.value })}
                  />
                </Text>
              ))}
              {note !== undefined && (
                <Text size="1" color="gray">
                  {note}
                </Text>
              )}
              {send.error !== null && (
                <Callout.Root color="red" size="1" role="alert">
                  <Callout.Text>{send.error.message}</Callout.Text>
                </Callout.Root>
              )}
              <Button
                type="submit"
                loading={send.isPending}
                disabled={fields.every(({ name }) => values[name].trim() === '')}
              >
                {label}
              </Button>
            </Flex>
          </form>
        </Card>
      </main>
    </Flex>
  );
}

/** Shows the pages to a signed-in user. `connection` is absent until something is known about it. */
export function SignedIn({
  title,
  who,
  connection,
  pages,
  leave,
  children,
}: {
  title: ReactNode;
  who?: string;
  connection?: { color: 'gray' | 'green' | 'amber' | 'red' | 'purple'; text: string } | undefined;
  pages: readonly { path: string; name: string }[];
  leave: { label: string; act(): void };
  children: ReactNode;
}) {
  const { dark, turn } = useContext(AppearanceContext);
  return (
    <>
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <header>
        <Flex align="center" justify="between" gap="3" wrap="wrap" py="3">
          <Flex align="center" gap="3" wrap="wrap" className="holder">
            <Heading as="h1" size="4">
              {title}
            </Heading>
            {who !== undefined && (
              <Badge color="gray" className="rt-high-contrast">
                {who}
              </Badge>
            )}
            {connection !== undefined && (
              <span className="connection">
                <Badge className="rt-high-contrast" color={connection.color} role="status">
                  {connection.text}
                </Badge>
              </span>
            )}
          </Flex>
          <Flex gap="3">
            <Button variant="ghost" color="gray" onClick={turn}>
              {dark ? 'Light' : 'Dark'}
            </Button>
            <Button variant="ghost" color="gray" onClick={leave.act}>
              {leave.label}
            </Button>
          </Flex>
        </Flex>
        <Flex asChild gap="1" wrap="wrap" mb="4">
          <nav className="nav" aria-label="Pages">
            {pages.map(({ path, name }) => (
              <Link key={path} to={path} activeOptions={{ exact: true }}>
                {name}
              </Link>
            ))}
          </nav>
        </Flex>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
