/** Records what would have ended the process: exceptions and rejections that nobody handled. */

export function recordEscapes(): { seen: string[]; stop(): void } {
  const seen: string[] = [];
  const note = (error: unknown) => void seen.push(String(error));
  process.on('uncaughtException', note).on('unhandledRejection', note);
  return { seen, stop: () => void process.off('uncaughtException', note).off('unhandledRejection', note) };
}
