// What a person can do by name: in the palette, after a slash, in menus.

export interface Command {
  /** One word. */
  id: string;
  title: string;
  keys?: string;
  run(): void;
}

/** Those that fit what was typed, the best first. */
export function matching(commands: readonly Command[], typed: string): readonly Command[] {
  const wanted = typed.trim().toLowerCase();
  const rank = ({ id, title }: Command): number => {
    if (id.toLowerCase().startsWith(wanted)) return 0;
    if (title.toLowerCase().startsWith(wanted)) return 1;
    return title.toLowerCase().includes(wanted) || id.toLowerCase().includes(wanted) ? 2 : 3;
  };
  const ranked = commands.map((command) => ({ command, rank: rank(command) })).filter(({ rank }) => rank < 3);
  return ranked.sort((one, other) => one.rank - other.rank).map(({ command }) => command);
}
