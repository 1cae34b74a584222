/** Moves the login of a URL into a header: `fetch` refuses a URL that has one, and errors quote URLs. */

export function loginHeader({ username, password }: URL): { authorization?: string } {
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return login === ':' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}
