// Where an address leads.

/** The host of an address of the web; of no other. */
export function hostOf(address: string | undefined): string | undefined {
  if (!address || !/^https?:\/\//i.test(address)) return undefined;
  try {
    return new URL(address).host;
  } catch {
    return undefined;
  }
}
