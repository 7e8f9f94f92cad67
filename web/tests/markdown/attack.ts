// Runs inside the page: shows hostile payloads, then looks for anything that ran or could run.

export interface Verdict {
  shown: number;
  drawn: number;
  executions: string[];
  findings: string[];
}

/** Elements that the renderer creates. Anything else comes from the payload. */
export const ALLOWED_ELEMENTS = (
  "div p h1 h2 h3 h4 h5 h6 ul ol li blockquote hr br table thead tbody tr th td figure figcaption pre code span a " +
  "em strong s label input button img details summary " +
  "math semantics mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup msubsup " +
  "munder mover munderover mtable mtr mlabeledtr mtd annotation"
).split(" ");

/** Streams texts in pieces of `size` (0: whole), waits until the page has settled, and inspects the result. */
export async function attack(given: { texts: string[]; size: number; allowed: string[] }): Promise<Verdict> {
  const { texts, size, allowed } = given;
  const settle = window.harness.prepareToSettle();
  const names = new Set(allowed);
  const executions: string[] = [];
  const findings: string[] = [];
  const real = { alert: window.alert, prompt: window.prompt, confirm: window.confirm, eval: window.eval, print: window.print };
  for (const name of Object.keys(real)) Object.assign(window, { [name]: () => void executions.push(name) });
  Object.assign(window, { pwned: () => void executions.push("marker") });

  const inspect = (root: Element, text: string): void => {
    for (const element of root.querySelectorAll("*")) {
      if (!names.has(element.localName)) findings.push(`element ${element.localName} from ${text}`);
      for (const { name, value } of element.attributes) {
        const isAddress = /^(?:href|src|action|formaction|xlink:href|data|srcset|poster|background)$/.test(name);
        const isLive = /^\s*(?:https?:|mailto:|blob:|\/v1\/sessions\/)/i.test(value);
        if (isAddress && !isLive) findings.push(`${name}="${value}" from ${text}`);
        if (name.startsWith("on") || name === "style" || name === "id") findings.push(`${name}="${value}" from ${text}`);
      }
      if (element instanceof HTMLAnchorElement && !/^(?:https?|mailto):$/.test(element.protocol)) {
        findings.push(`link to ${element.href} from ${text}`);
      }
    }
  };

  // Scripts run and images load there, but the browser skips layout.
  const container = document.createElement("section");
  document.body.append(container);
  container.style.contentVisibility = "hidden";
  const open = texts.map((text) => {
    const shown = window.harness.openUnthrottled(container);
    const step = size === 0 ? Math.max(text.length, 1) : size;
    for (let at = 0; at < text.length; at += step) shown.stream.append(text.slice(at, at + step));
    if (size !== 0) inspect(shown.host, text);
    shown.stream.finish();
    return { ...shown, text };
  });
  await window.harness.diagramsDrawn();
  await settle();
  const drawn = container.querySelectorAll(".md-diagram").length;
  for (const { host, stream, text } of open) {
    inspect(host, text);
    stream.dispose();
  }
  container.remove();
  Object.assign(window, real);
  return { shown: texts.length, drawn, executions, findings: findings.slice(0, 10) };
}

/** Passes payloads to the browser unsanitised: only the content security policy stops them. */
export async function attackUnsanitised(payloads: string[]): Promise<Verdict> {
  const executions: string[] = [];
  const real = { alert: window.alert, prompt: window.prompt, confirm: window.confirm, eval: window.eval, print: window.print };
  for (const name of Object.keys(real)) Object.assign(window, { [name]: () => void executions.push(name) });
  Object.assign(window, { pwned: () => void executions.push("marker") });
  // Create all first: a payload may clobber the document's properties.
  const settle = window.harness.prepareToSettle();
  const holders = payloads.map(() => document.body.appendChild(document.createElement("div")));
  holders.forEach((holder, index) => (holder.innerHTML = payloads[index] ?? ""));
  await settle();
  for (const holder of holders) holder.remove();
  Object.assign(window, real);
  return { shown: payloads.length, drawn: 0, executions, findings: [] };
}
