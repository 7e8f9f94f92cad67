// Accessibility checks with axe.

import axe from "axe-core";
import { expect, type Page } from "@playwright/test";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Waits for transitions: a text that is still fading in has too little contrast. Endless animations are left alone. */
async function waitForTransitions(page: Page): Promise<void> {
  await page.evaluate(() => {
    const transitions = document.getAnimations().filter((animation) => animation.effect?.getComputedTiming().iterations !== Infinity);
    return Promise.allSettled(transitions.map(({ finished }) => finished)).then(() => undefined);
  });
}

/** Checks the page, or the part that matches `within`; `except` lists rules to ignore. */
export async function expectNoAxeViolations(page: Page, state: string, except: string[] = [], within = "html"): Promise<void> {
  await page.evaluate(axe.source);
  await waitForTransitions(page);
  const found = await page.evaluate(async ([rules, within]) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(within, { runOnly: [...rules] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
  }, [RULES, within] as const);
  expect(found.filter((violation) => !except.some((rule) => violation.startsWith(`${rule}:`))), state).toEqual([]);
}
