// Generates a long, varied answer of a given size, for tests and benchmarks.
// Invariant: the same size and seed give the same text on every machine.

const WORDS = (
  "stream frame block parser buffer cursor reader window socket thread value owner queue signal state limit layer " +
  "cache index token branch merge commit patch delta event order source target bridge valley river stone garden " +
  "morning quiet simple steady careful narrow bright gentle honest useful common small several early final open"
).split(" ");

const CODE: Record<string, string[]> = {
  rust: ["pub fn push(&mut self, bytes: &[u8]) {", "    for byte in bytes {", "        self.step(*byte); // one state", "    }", "}"],
  python: ["def fold(events: list[Event]) -> View:", "    view = View()", "    for event in events:", "        view.apply(event)", '    return view  # "done"'],
  typescript: ["export function decide(now: number): Plan {", "  const late = now - start > LIMIT_MS;", "  return late ? { kind: `wait` } : { kind: `go` };", "}"],
  bash: ["for file in *.log; do", '  gzip --keep "$file" || exit 1', "done"],
  json: ["{", '  "name": "pond",', '  "limits": { "frames": 128, "bytes": 65536 }', "}"],
  sql: ["select run, count(*) as events", "from log", "where seq > 42 and kind = 'delta'", "group by run;"],
};

const FORMULAS = ["a^2 + b^2 = c^2", "\\frac{n(n+1)}{2}", "O(n \\log n)", "\\sum_{i=0}^{n} x_i", "e^{i\\pi} = -1"];

type Random = () => number;

export function generateAnswer(characters: number, seed = 7): string {
  const random = mulberry(seed);
  const parts: string[] = [];
  let length = 0;
  for (let section = 0; length < characters; section++) {
    const part = SECTIONS[section % SECTIONS.length]?.(random, section) ?? "";
    parts.push(part);
    length += part.length + 2;
  }
  return parts.join("\n\n").slice(0, characters);
}

/** Splits a text into pieces of `size` characters, like the deltas of a model. */
export function splitIntoPieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size));
}

const SECTIONS: ((random: Random, section: number) => string)[] = [
  (random, section) => `## ${section + 1}. ${capital(words(random, 4))}`,
  (random) => paragraph(random, 5),
  (random) => list(random, 5, () => "- "),
  (random) => code(random),
  (random) => paragraph(random, 4),
  (random) => table(random, 5),
  (random) => `> ${paragraph(random, 2)}`,
  (random) => list(random, 4, (index) => `${index + 1}. `),
  (random) => `$$\n${pick(random, FORMULAS)}\n$$`,
  (random) => `### ${capital(words(random, 3))}`,
  (random) => paragraph(random, 6),
  (random) => list(random, 3, (index) => `- [${index % 2 === 0 ? "x" : " "}] `),
  (random) => code(random),
];

function paragraph(random: Random, sentences: number): string {
  return Array.from({ length: sentences }, () => sentence(random)).join(" ");
}

function sentence(random: Random): string {
  const start = capital(words(random, 4 + Math.floor(random() * 5)));
  return `${start} ${inlineMarkup(random)} ${words(random, 3 + Math.floor(random() * 4))}.`;
}

function inlineMarkup(random: Random): string {
  const inside = words(random, 2);
  const kinds = [
    `**${inside}**`, `*${inside}*`, `\`${inside.replace(" ", "_")}\``, `~~${inside}~~`, `$${pick(random, FORMULAS)}$`,
    `[${inside}](https://example.org/${inside.replace(" ", "/")})`, "https://example.com/docs", inside, inside, inside,
  ];
  return pick(random, kinds);
}

function list(random: Random, items: number, marker: (index: number) => string): string {
  return Array.from({ length: items }, (_, index) => marker(index) + sentence(random)).join("\n");
}

function table(random: Random, rows: number): string {
  const row = (): string => `| ${words(random, 1)} | ${words(random, 3)} | ${Math.floor(random() * 1000)} |`;
  return ["| name | what it does | count |", "| --- | :-- | --: |", ...Array.from({ length: rows }, row)].join("\n");
}

function code(random: Random): string {
  const language = pick(random, Object.keys(CODE));
  const body = CODE[language] ?? [];
  const copies = 1 + Math.floor(random() * 3);
  return [`\`\`\`${language}`, ...Array.from({ length: copies }, () => body).flat(), "```"].join("\n");
}

function words(random: Random, count: number): string {
  return Array.from({ length: count }, () => pick(random, WORDS)).join(" ");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function pick<T>(random: Random, values: T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function mulberry(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
