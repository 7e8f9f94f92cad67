// Commands, as listed in the palette and the slash menu.

/** A named action. */
export interface Command {
  /** One word, typed after a slash. */
  id: string;
  title: string;
  keys?: string;
  run(): void;
}

/** Commands whose id or title contains `query`, best match first. */
export function searchCommands(commands: readonly Command[], query: string): readonly Command[] {
  const text = query.trim().toLowerCase();
  const rank = ({ id, title }: Command): number => {
    if (id.toLowerCase().startsWith(text)) return 0;
    if (title.toLowerCase().startsWith(text)) return 1;
    return title.toLowerCase().includes(text) || id.toLowerCase().includes(text) ? 2 : 3;
  };
  const ranked = commands.map((command) => ({ command, rank: rank(command) })).filter(({ rank }) => rank < 3);
  return ranked.sort((one, other) => one.rank - other.rank).map(({ command }) => command);
}
