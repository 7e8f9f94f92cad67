// What the scripted agent is asked to play: every recorded stream, whole and slow and cut.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MADE = /\.(events|latest|steps|bubbles|transcript|sentences)$/;

export function streams(fixtures) {
  const dialects = readdirSync(fixtures).sort();
  return dialects.flatMap((dialect) =>
    readdirSync(join(fixtures, dialect)).filter((name) => !MADE.test(name)).sort().map((name) => `${dialect}/${name}`));
}

// Every `step`th stream: at once, in slow pieces, or cut in the middle, in turn.
export function parts(fixtures, step) {
  return streams(fixtures).filter((_, at) => at % step === 0).map((play, at) => {
    const size = readFileSync(join(fixtures, play)).length;
    const how = [{}, { piece: 199, pause: 1 }, { cut: Math.floor((size * (at % 7 + 1)) / 8) }][at % 3];
    return { name: `${play} ${JSON.stringify(how)}`, part: { play, ...how } };
  });
}
