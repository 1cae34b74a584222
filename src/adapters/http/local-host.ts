/** Host names that a local door answers for, because a web page can point its own name at this machine. */

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

export function isLocalHost(host = '', more: readonly string[] = []): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return LOOPBACK.test(name) || more.includes(name);
}
