// Hosts of web addresses.

/** Host of an http or https URL; undefined for anything else. */
export function webHost(url: string | undefined): string | undefined {
  if (!url || !/^https?:\/\//i.test(url)) return undefined;
  try {
    return new URL(url).host;
  } catch {
    return undefined;
  }
}
